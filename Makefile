# hold_ledger: build, install and test with PGXS; see CONTRIBUTING.md.

EXTENSION = hold_ledger
MODULE_big = hold_ledger
OBJS = $(patsubst %.c,%.o,$(wildcard src/*.c))
DATA = $(wildcard sql/$(EXTENSION)--*.sql)

# PostgreSQL 15 where it is, else the newest that Debian has unpacked.
servers = $(sort $(wildcard /usr/lib/postgresql/*/bin/pg_config))
PG_CONFIG ?= $(firstword $(filter %/15/bin/pg_config,$(servers)) $(lastword $(servers)) pg_config)
override with_llvm ?= no

# Only what the server calls is exported, from 16 on by itself.
PG_CPPFLAGS = -DPGDLLEXPORT='__attribute__((visibility("default")))'
PG_CFLAGS = -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden

# Every test file is run.  "make check REGRESS=try ISOLATION= TAP=" runs fewer;
# install still goes first, as the other regress files need it.
names = $(sort $(basename $(notdir $(wildcard $(1)))))
REGRESS = install $(filter-out install uninstall,$(call names,test/sql/*.sql)) uninstall
override REGRESS := $(if $(strip $(REGRESS)),install $(filter-out install,$(REGRESS)))
ISOLATION = $(call names,test/isolation/specs/*.spec)
TAP = $(call names,test/t/*.pl)

REGRESS_OPTS = --inputdir=test
ISOLATION_OPTS = --inputdir=test/isolation --load-extension=btree_gist --load-extension=$(EXTENSION)
TAP_TESTS := $(if $(strip $(TAP)),1)
PROVE_TESTS = $(TAP:%=test/t/%.pl)

EXTRA_CLEAN = src/*.gcno src/*.gcda results output_iso regression.diffs regression.out

# These goals may have to install PGXS before they can use it.
own_goals = bench bench-quick check check-world demo dist format format-check print-%

ifneq (,$(filter $(own_goals),$(MAKECMDGOALS)))

.PHONY: bench bench-quick check check-world demo dist format format-check

check:
	@test/run $(MAKEOVERRIDES)

check-world:
	@test/world $(MAKEOVERRIDES)

demo:
	@examples/demo/run $(MAKEOVERRIDES)

# The server is asked for anew, as it may just have been installed.
bench bench-quick:
	@bench/prepare $(MAKEOVERRIDES)
	@PG_CONFIG="$$($(MAKE) -s --no-print-directory print-PG_CONFIG)" bench/run $(if $(filter bench-quick,$@),--quick --name quick,--name latest)

# What PGXN takes: the last commit, under the version of META.json.
dist:
	@version="$$(sed -n 's/^   "version": "\(.*\)",/\1/p' META.json)" && \
		git archive --format=zip --prefix="$(EXTENSION)-$$version/" \
			--output="$(EXTENSION)-$$version.zip" HEAD && \
		echo "$(EXTENSION)-$$version.zip"

format:
	@test/format

format-check:
	@test/format --check

print-%:
	@echo '$($*)'

# Other goals beside these are left to a make of their own.
$(filter-out $(own_goals),$(MAKECMDGOALS)):
	$(MAKE) $@

else

PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

$(OBJS): $(wildcard src/*.h) Makefile

# The types that our code names, for pg_bsd_indent: its own, those that the debug
# information knows, and bool, which is a macro.
.PHONY: typedefs
typedefs: $(OBJS)
	{ echo bool; sed -n 's/^}[[:space:]]*\([[:alpha:]_][[:alnum:]_]*\);.*/\1/p' src/*.[ch]; \
		objdump --dwarf=info $(OBJS) | \
		awk '/DW_TAG/ { type = /DW_TAG_typedef/ } type && /DW_AT_name/ { print $$NF }'; } | \
		sort -u | grep -ohwFf - src/*.[ch] | LC_ALL=C sort -u >typedefs.list

endif
