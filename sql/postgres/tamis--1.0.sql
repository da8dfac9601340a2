-- Created by CREATE EXTENSION tamis. docs/SQL.md is the manual.
--
-- Every object is made by CREATE, never by CREATE OR REPLACE, and every function is in C, so that
-- objects of the same name that somebody has put in the way are errors and are never called.
\echo Use "CREATE EXTENSION tamis" to load this file. \quit

-- The type ---------------------------------------------------------------------------------------

CREATE TYPE tamis;

CREATE FUNCTION tamis_in(cstring) RETURNS tamis
    AS 'MODULE_PATHNAME', 'pg_tamis_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_out(tamis) RETURNS cstring
    AS 'MODULE_PATHNAME', 'pg_tamis_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_recv(internal) RETURNS tamis
    AS 'MODULE_PATHNAME', 'pg_tamis_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_send(tamis) RETURNS bytea
    AS 'MODULE_PATHNAME', 'pg_tamis_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE tamis (
    INPUT = tamis_in, OUTPUT = tamis_out, RECEIVE = tamis_recv, SEND = tamis_send,
    INTERNALLENGTH = VARIABLE, STORAGE = external
);
COMMENT ON TYPE tamis IS 'a filter or sketch: the bytes of a .tamis file';

CREATE FUNCTION tamis_from_bytea(bytea) RETURNS tamis
    AS 'MODULE_PATHNAME', 'pg_tamis_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (bytea AS tamis) WITH FUNCTION tamis_from_bytea(bytea) AS ASSIGNMENT;
CREATE CAST (tamis AS bytea) WITHOUT FUNCTION AS ASSIGNMENT;

CREATE FUNCTION tamis_is_sketch(tamis) RETURNS boolean
    AS 'MODULE_PATHNAME', 'pg_tamis_is_sketch' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE DOMAIN tamis_filter AS tamis CHECK (NOT tamis_is_sketch(VALUE));
CREATE DOMAIN tamis_sketch AS tamis CHECK (tamis_is_sketch(VALUE));
COMMENT ON DOMAIN tamis_filter IS 'a tamis that answers: have I seen this?';
COMMENT ON DOMAIN tamis_sketch IS 'a tamis that answers: how often, or how many distinct?';

CREATE TYPE tamis_item AS (item text, count bigint, lower bigint, upper bigint);
COMMENT ON TYPE tamis_item IS 'a frequent item: its estimated count between two bounds';

CREATE FUNCTION tamis_version() RETURNS text
    AS 'MODULE_PATHNAME', 'pg_tamis_version' LANGUAGE C IMMUTABLE PARALLEL SAFE;

-- Queries ----------------------------------------------------------------------------------------
-- The forms with text are for literals, whose type is not known. The costs are those of a call in
-- a scan, in units of cpu_operator_cost, and of reading all cells.

CREATE FUNCTION tamis_contains(tamis, anyelement) RETURNS boolean
    AS 'MODULE_PATHNAME', 'pg_tamis_contains' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4;
CREATE FUNCTION tamis_contains(tamis, text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'pg_tamis_contains' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4;
CREATE OPERATOR @> (LEFTARG = tamis, RIGHTARG = anyelement, FUNCTION = tamis_contains);
CREATE OPERATOR @> (LEFTARG = tamis, RIGHTARG = text, FUNCTION = tamis_contains);
COMMENT ON OPERATOR @> (tamis, anyelement) IS 'may contain: false is certain';
COMMENT ON OPERATOR @> (tamis, text) IS 'may contain: false is certain';

CREATE FUNCTION tamis_value(tamis, anyelement) RETURNS bigint
    AS 'MODULE_PATHNAME', 'pg_tamis_value' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4;
CREATE FUNCTION tamis_value(tamis, text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'pg_tamis_value' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4;
CREATE FUNCTION tamis_estimate(tamis, anyelement) RETURNS bigint
    AS 'MODULE_PATHNAME', 'pg_tamis_estimate' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
CREATE FUNCTION tamis_estimate(tamis, text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'pg_tamis_estimate' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
CREATE FUNCTION tamis_estimate_bounds(
        tamis, anyelement, OUT count bigint, OUT lower bigint, OUT upper bigint)
    AS 'MODULE_PATHNAME', 'pg_tamis_estimate_bounds'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
CREATE FUNCTION tamis_estimate_bounds(
        tamis, text, OUT count bigint, OUT lower bigint, OUT upper bigint)
    AS 'MODULE_PATHNAME', 'pg_tamis_estimate_bounds'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;

CREATE FUNCTION tamis_list(tamis, bigint) RETURNS SETOF tamis_item
    AS 'MODULE_PATHNAME', 'pg_tamis_list' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION tamis_list(tamis) RETURNS SETOF tamis_item
    AS 'MODULE_PATHNAME', 'pg_tamis_list' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION tamis_cardinality(tamis) RETURNS bigint
    AS 'MODULE_PATHNAME', 'pg_tamis_cardinality' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION tamis_info(tamis) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'pg_tamis_info' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION tamis_compare(tamis, tamis) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'pg_tamis_compare' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;

-- Changes, which make a new value ----------------------------------------------------------------

CREATE FUNCTION tamis_empty(
        kind text, items bigint DEFAULT NULL, fpr double precision DEFAULT NULL,
        bytes bigint DEFAULT NULL, error double precision DEFAULT NULL) RETURNS tamis
    AS 'MODULE_PATHNAME', 'pg_tamis_empty' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
CREATE FUNCTION tamis_add(tamis, anyelement) RETURNS tamis
    AS 'MODULE_PATHNAME', 'pg_tamis_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION tamis_add(tamis, text) RETURNS tamis
    AS 'MODULE_PATHNAME', 'pg_tamis_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION tamis_add(tamis, anyelement, weight bigint) RETURNS tamis
    AS 'MODULE_PATHNAME', 'pg_tamis_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION tamis_add(tamis, text, weight bigint) RETURNS tamis
    AS 'MODULE_PATHNAME', 'pg_tamis_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION tamis_merge(tamis, tamis) RETURNS tamis
    AS 'MODULE_PATHNAME', 'pg_tamis_merge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE OPERATOR || (LEFTARG = tamis, RIGHTARG = tamis, FUNCTION = tamis_merge);
COMMENT ON OPERATOR || (tamis, tamis) IS 'union';

-- Aggregates -------------------------------------------------------------------------------------

CREATE FUNCTION tamis_filter_step(internal, anyelement, bigint, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'pg_tamis_filter_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_filter_step(internal, anyelement, bigint, double precision, text)
    RETURNS internal
    AS 'MODULE_PATHNAME', 'pg_tamis_filter_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_seal_step(internal, anyelement, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'pg_tamis_seal_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_map_step(internal, anyelement, bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'pg_tamis_map_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_map_step(internal, anyelement, bigint, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'pg_tamis_map_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_map_step(internal, anyelement, bigint, double precision, bigint)
    RETURNS internal
    AS 'MODULE_PATHNAME', 'pg_tamis_map_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_distinct_step(internal, anyelement) RETURNS internal
    AS 'MODULE_PATHNAME', 'pg_tamis_distinct_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_distinct_step(internal, anyelement, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'pg_tamis_distinct_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_count_step(internal, anyelement) RETURNS internal
    AS 'MODULE_PATHNAME', 'pg_tamis_count_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_count_step(internal, anyelement, bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'pg_tamis_count_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_count_step(internal, anyelement, bigint, bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'pg_tamis_count_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_top_step(internal, anyelement) RETURNS internal
    AS 'MODULE_PATHNAME', 'pg_tamis_top_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_top_step(internal, anyelement, bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'pg_tamis_top_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_union_step(internal, tamis) RETURNS internal
    AS 'MODULE_PATHNAME', 'pg_tamis_union_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION tamis_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'pg_tamis_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_serialize(internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'pg_tamis_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_deserialize(bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'pg_tamis_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION tamis_final(internal) RETURNS tamis
    AS 'MODULE_PATHNAME', 'pg_tamis_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_distinct_final(internal) RETURNS bigint
    AS 'MODULE_PATHNAME', 'pg_tamis_distinct_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION tamis_top_final(internal) RETURNS tamis_item[]
    AS 'MODULE_PATHNAME', 'pg_tamis_top_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;

-- SSPACE is what a small group takes. Bigger ones are not typical of queries with many groups.

CREATE AGGREGATE tamis_filter_agg(anyelement, bigint, double precision) (
    SFUNC = tamis_filter_step, STYPE = internal, SSPACE = 512, FINALFUNC = tamis_final,
    COMBINEFUNC = tamis_combine, SERIALFUNC = tamis_serialize, DESERIALFUNC = tamis_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_filter_agg(anyelement, bigint, double precision, text) (
    SFUNC = tamis_filter_step, STYPE = internal, SSPACE = 512, FINALFUNC = tamis_final,
    COMBINEFUNC = tamis_combine, SERIALFUNC = tamis_serialize, DESERIALFUNC = tamis_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_seal_agg(anyelement, double precision) (
    SFUNC = tamis_seal_step, STYPE = internal, SSPACE = 512, FINALFUNC = tamis_final,
    COMBINEFUNC = tamis_combine, SERIALFUNC = tamis_serialize, DESERIALFUNC = tamis_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_map_agg(anyelement, bigint) (
    SFUNC = tamis_map_step, STYPE = internal, SSPACE = 512, FINALFUNC = tamis_final,
    COMBINEFUNC = tamis_combine, SERIALFUNC = tamis_serialize, DESERIALFUNC = tamis_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_map_agg(anyelement, bigint, double precision) (
    SFUNC = tamis_map_step, STYPE = internal, SSPACE = 512, FINALFUNC = tamis_final,
    COMBINEFUNC = tamis_combine, SERIALFUNC = tamis_serialize, DESERIALFUNC = tamis_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_map_agg(anyelement, bigint, double precision, bigint) (
    SFUNC = tamis_map_step, STYPE = internal, SSPACE = 512, FINALFUNC = tamis_final,
    COMBINEFUNC = tamis_combine, SERIALFUNC = tamis_serialize, DESERIALFUNC = tamis_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_distinct_agg(anyelement) (
    SFUNC = tamis_distinct_step, STYPE = internal, SSPACE = 512, FINALFUNC = tamis_final,
    COMBINEFUNC = tamis_combine, SERIALFUNC = tamis_serialize, DESERIALFUNC = tamis_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_distinct_agg(anyelement, double precision) (
    SFUNC = tamis_distinct_step, STYPE = internal, SSPACE = 512, FINALFUNC = tamis_final,
    COMBINEFUNC = tamis_combine, SERIALFUNC = tamis_serialize, DESERIALFUNC = tamis_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_count_agg(anyelement) (
    SFUNC = tamis_count_step, STYPE = internal, SSPACE = 512, FINALFUNC = tamis_final,
    COMBINEFUNC = tamis_combine, SERIALFUNC = tamis_serialize, DESERIALFUNC = tamis_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_count_agg(anyelement, bigint) (
    SFUNC = tamis_count_step, STYPE = internal, SSPACE = 512, FINALFUNC = tamis_final,
    COMBINEFUNC = tamis_combine, SERIALFUNC = tamis_serialize, DESERIALFUNC = tamis_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_count_agg(anyelement, bigint, bigint) (
    SFUNC = tamis_count_step, STYPE = internal, SSPACE = 512, FINALFUNC = tamis_final,
    COMBINEFUNC = tamis_combine, SERIALFUNC = tamis_serialize, DESERIALFUNC = tamis_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_top_agg(anyelement) (
    SFUNC = tamis_top_step, STYPE = internal, SSPACE = 512, FINALFUNC = tamis_final,
    COMBINEFUNC = tamis_combine, SERIALFUNC = tamis_serialize, DESERIALFUNC = tamis_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_top_agg(anyelement, bigint) (
    SFUNC = tamis_top_step, STYPE = internal, SSPACE = 512, FINALFUNC = tamis_final,
    COMBINEFUNC = tamis_combine, SERIALFUNC = tamis_serialize, DESERIALFUNC = tamis_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE tamis_union_agg(tamis) (
    SFUNC = tamis_union_step, STYPE = internal, SSPACE = 16384, FINALFUNC = tamis_final,
    COMBINEFUNC = tamis_combine, SERIALFUNC = tamis_serialize, DESERIALFUNC = tamis_deserialize,
    PARALLEL = SAFE
);

-- The names of other engines.

CREATE AGGREGATE approx_count_distinct(anyelement) (
    SFUNC = tamis_distinct_step, STYPE = internal, SSPACE = 512, FINALFUNC = tamis_distinct_final,
    COMBINEFUNC = tamis_combine, SERIALFUNC = tamis_serialize, DESERIALFUNC = tamis_deserialize,
    PARALLEL = SAFE
);
CREATE AGGREGATE approx_top_k(anyelement, bigint) (
    SFUNC = tamis_top_step, STYPE = internal, SSPACE = 512, FINALFUNC = tamis_top_final,
    COMBINEFUNC = tamis_combine, SERIALFUNC = tamis_serialize, DESERIALFUNC = tamis_deserialize,
    PARALLEL = SAFE
);
