/*-------------------------------------------------------------------------
 *
 * lines.c
 *	  The lines of a request: made from plain arguments, and read.
 *
 *-------------------------------------------------------------------------
 */
#include "lines.h"

#include "access/htup_details.h"
#include "arguments.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nights.h"
#include "settings.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

SQL_FUNCTION(hold_line);
SQL_FUNCTION(hold_lines);
SQL_FUNCTION(hold_nights);

#define LINE_COLUMNS 3

/* --- making --- */

static Datum
make_line(TupleDesc desc, Datum pool, Datum qty, bool budgeted, Datum budget)
{
	Datum		values[LINE_COLUMNS];
	bool		isnull[LINE_COLUMNS] = {false, false, !budgeted};

	values[0] = pool;
	values[1] = qty;
	values[2] = budget;
	return HeapTupleGetDatum(heap_form_tuple(desc, values, isnull));
}

/* The row type of a function's array of lines, and its element type. */
static TupleDesc
line_desc(FunctionCallInfo fcinfo, Oid *line_type)
{
	Oid			array_type = get_func_rettype(fcinfo->flinfo->fn_oid);

	*line_type = get_element_type(array_type);
	return lookup_rowtype_tupdesc_copy(*line_type, -1);
}

static Datum
lines_array(Datum *lines, int count, Oid line_type)
{
	return PointerGetDatum(construct_array(lines, count, line_type, -1, false,
										   TYPALIGN_DOUBLE));
}

/*
 * hold_line(pool text, qty numeric, budget numeric) returns hold_line
 *
 * One line of a request.  The values are checked when the line is used.
 */
Datum
hold_line(PG_FUNCTION_ARGS)
{
	TupleDesc	desc;
	Datum		values[LINE_COLUMNS];
	bool		isnull[LINE_COLUMNS];

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	for (int i = 0; i < LINE_COLUMNS; i++)
	{
		values[i] = PG_GETARG_DATUM(i);
		isnull[i] = PG_ARGISNULL(i);
	}
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values,
											 isnull));
}

static Datum
one_unit(void)
{
	return NumericGetDatum(int64_to_numeric(1));
}

/* An element of an array, or the given value if there is no array. */
static Datum
element_or(const ArrayArgument *array, int i, Datum otherwise,
		   const char *name)
{
	if (!array->given)
		return otherwise;
	if (array->isnull[i])
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not contain nulls", name),
				 errdetail("Element %d is null.", i + 1)));
	return array->values[i];
}

/*
 * hold_lines(pools text[], qtys numeric[], budgets numeric[])
 *		returns hold_line[]
 *
 * Many lines from plain arrays: NULL for qtys means 1 each, NULL for budgets,
 * or in it, no budget.  Errors: 22004 for a NULL pool or quantity, 22023 if
 * the arrays differ in length.
 */
Datum
hold_lines(PG_FUNCTION_ARGS)
{
	ArrayArgument pools;
	ArrayArgument qtys;
	ArrayArgument budgets;
	Oid			line_type;
	TupleDesc	desc = line_desc(fcinfo, &line_type);
	Datum	   *lines;

	require_argument(fcinfo, 0, "pools");
	pools = argument_array(fcinfo, 0, "pools", setting_max_lines);
	qtys = argument_array(fcinfo, 1, "qtys", setting_max_lines);
	budgets = argument_array(fcinfo, 2, "budgets", setting_max_lines);
	require_same_length(&qtys, pools.count, "qtys", "pools");
	require_same_length(&budgets, pools.count, "budgets", "pools");

	lines = palloc(sizeof(Datum) * (pools.count + 1));
	for (int i = 0; i < pools.count; i++)
	{
		bool		budgeted = budgets.given && !budgets.isnull[i];

		lines[i] = make_line(desc, element_or(&pools, i, (Datum) 0, "pools"),
							 element_or(&qtys, i, one_unit(), "qtys"),
							 budgeted, budgeted ? budgets.values[i] : (Datum) 0);
	}
	return lines_array(lines, pools.count, line_type);
}

/* --- nights --- */

/* The pool of one night: prefix, colon, date in ISO form. */
static text *
pool_of_night(const text *prefix, DateADT night)
{
	struct pg_tm date = {0};
	char		iso[MAXDATELEN + 1];

	j2date(night + POSTGRES_EPOCH_JDATE, &date.tm_year, &date.tm_mon,
		   &date.tm_mday);
	EncodeDateOnly(&date, USE_ISO_DATES, iso);
	return cstring_to_text(psprintf("%.*s:%s", (int) VARSIZE_ANY_EXHDR(prefix),
									VARDATA_ANY(prefix), iso));
}

/*
 * hold_nights(prefix text, stay daterange, qty numeric, budgets numeric[])
 *		returns hold_line[]
 *
 * One line a night of the stay, for pools named prefix:YYYY-MM-DD.  Nights
 * are calendar dates, the same in every time zone.  Errors: 22004 for NULL,
 * 22023 for a stay that is empty, unbounded or longer than
 * hold_ledger.max_nights, or if there is not one budget a night.
 */
Datum
hold_nights(PG_FUNCTION_ARGS)
{
	text	   *prefix = argument_key(fcinfo, 0, "prefix");
	ArrayArgument budgets;
	Nights		stay;
	int			nights;
	Oid			line_type;
	TupleDesc	desc = line_desc(fcinfo, &line_type);
	Datum	   *lines;

	require_argument(fcinfo, 2, "qty");
	stay = nights_of_argument(fcinfo, 1, "stay");
	nights = nights_count(stay);
	budgets = argument_array(fcinfo, 3, "budgets", setting_max_nights);
	require_same_length(&budgets, nights, "budgets", "the nights of the stay");

	lines = palloc(sizeof(Datum) * nights);
	for (int i = 0; i < nights; i++)
	{
		bool		budgeted = budgets.given && !budgets.isnull[i];

		lines[i] = make_line(desc,
							 PointerGetDatum(pool_of_night(prefix, stay.first + i)),
							 PG_GETARG_DATUM(2), budgeted,
							 budgeted ? budgets.values[i] : (Datum) 0);
	}
	return lines_array(lines, nights, line_type);
}

/* --- reading --- */

static void
refuse_null_in_line(int number, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("%s of a line must not be null", what),
			 errdetail("It is line %d.", number)));
}

static void
read_line(Datum value, TupleDesc desc, int number, Line *line)
{
	HeapTupleHeader header = DatumGetHeapTupleHeader(value);
	HeapTupleData tuple;
	Datum		values[LINE_COLUMNS];
	bool		isnull[LINE_COLUMNS];

	tuple.t_len = HeapTupleHeaderGetDatumLength(header);
	tuple.t_data = header;
	heap_deform_tuple(&tuple, desc, values, isnull);

	if (isnull[0])
		refuse_null_in_line(number, "pool");
	if (isnull[1])
		refuse_null_in_line(number, "qty");
	line->pool = DatumGetTextPP(values[0]);
	rule_key(line->pool, "pool");
	line->demand.qty = rule_units(DatumGetNumeric(values[1]), "qty",
								  QUANTITY_POSITIVE);
	line->demand.budgeted = !isnull[2];
	line->demand.budget = isnull[2] ? 0 :
		rule_units(DatumGetNumeric(values[2]), "budget", QUANTITY_ANY);
}

/*
 * Reads an argument of type hold_line[].  Errors 22004 for a NULL line or
 * NULL in it, 22023 for no lines, too many, or a value out of its limits.
 */
Line *
lines_of_argument(FunctionCallInfo fcinfo, int number,
				  const Relations *relations, int *count)
{
	ArrayArgument array;
	TupleDesc	desc;
	Line	   *lines;

	require_argument(fcinfo, number, "lines");
	array = argument_array(fcinfo, number, "lines", setting_max_lines);
	if (array.count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("lines must not be empty"),
				 errdetail("A request has 1 to %d lines.", setting_max_lines)));

	desc = lookup_rowtype_tupdesc_copy(relations->line_type, -1);
	lines = palloc(sizeof(Line) * array.count);
	for (int i = 0; i < array.count; i++)
	{
		if (array.isnull[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("lines must not contain nulls"),
					 errdetail("Element %d is null.", i + 1)));
		read_line(array.values[i], desc, i + 1, &lines[i]);
	}
	*count = array.count;
	return lines;
}
