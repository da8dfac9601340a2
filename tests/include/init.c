/* Every struct with struct_size has a TAMIS_..._INIT. Compiled as C and as C++. */
#include <tamis/columns.h>
#include <tamis/count.h>
#include <tamis/distinct.h>
#include <tamis/foreign.h>
#include <tamis/publish.h>
#include <tamis/tamis.h>

#include <stdio.h>

static int wrong;

/* The language makes the other fields zero; a plan shows it. */
#define CHECK_INIT(type, INIT)                                                                     \
    do {                                                                                           \
        const type made = INIT;                                                                    \
        if (made.struct_size != sizeof(type)) {                                                    \
            printf("%s: struct_size is %zu\n", #type, made.struct_size);                           \
            wrong++;                                                                               \
        }                                                                                          \
    } while (0)

static int is_empty_plan(tamis_plan p)
{
    return p.kind == 0 && p.flags == 0 && p.items == 0 && p.fpr == 0 && p.bytes == 0 &&
           p.seed == 0 && p.m == 0 && p.k == 0 && p.cell_bits == 0 && p.generations == 0 &&
           p.inner_kind == 0 && p.excluded == 0 && p.error == 0 && p.delta == 0;
}

int main(void)
{
    CHECK_INIT(tamis_plan, TAMIS_PLAN_INIT);
    CHECK_INIT(tamis_promise, TAMIS_PROMISE_INIT);
    CHECK_INIT(tamis_options, TAMIS_OPTIONS_INIT);
    CHECK_INIT(tamis_column, TAMIS_COLUMN_INIT);
    CHECK_INIT(tamis_save_options, TAMIS_SAVE_OPTIONS_INIT);
    CHECK_INIT(tamis_facts, TAMIS_FACTS_INIT);
    CHECK_INIT(tamis_similarity, TAMIS_SIMILARITY_INIT);
    CHECK_INIT(tamis_cardinality, TAMIS_CARDINALITY_INIT);
    CHECK_INIT(tamis_evidence, TAMIS_EVIDENCE_INIT);
    CHECK_INIT(tamis_foreign_plan, TAMIS_FOREIGN_PLAN_INIT);
    CHECK_INIT(tamis_foreign_facts, TAMIS_FOREIGN_FACTS_INIT);
    CHECK_INIT(tamis_parquet_chunk, TAMIS_PARQUET_CHUNK_INIT);
    const tamis_plan plan = TAMIS_PLAN_INIT;
    return wrong != 0 || !is_empty_plan(plan);
}
