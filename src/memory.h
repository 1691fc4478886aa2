/*-------------------------------------------------------------------------
 *
 * memory.h
 *	  What the ledger remembers of a token in one place.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HOLD_MEMORY_H
#define HOLD_MEMORY_H

#include "postgres.h"

#include "standing.h"

extern bool memory_nights_of_call(const Standing *standing,
								  const Entry *entry, Nights *nights);
extern bool memory_nights(const Standing *standing, Nights *nights);
extern Standing memory_as_of(const Standing *standing, const Entry *entry);
extern List *memory_pieces(const Standing *standing);
extern const Entry *memory_last_entry(const Standing *standing);
extern const Entry *memory_full_return(const Standing *standing);
extern const Entry *memory_last_word(const Standing *standing);
extern const Entry *memory_end(const Standing *standing);
extern const Entry *memory_own_end(const Standing *standing);
extern HoldOutcome memory_state(const Standing *standing,
								TimestampTz clock);
extern const Entry *memory_last_consumption(const Standing *standing);
extern int64 memory_taken(const Standing *standing);
extern const Entry *memory_entry_with_ref(const Standing *standing,
										  HoldEvent event, const text *ref);
extern Figures memory_figures(const Standing *standing,
							  const Entry *consumed);

#endif							/* HOLD_MEMORY_H */
