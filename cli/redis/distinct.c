/* distinct at redis:// addresses: the number of distinct lines of a set or of the union of several,
 * and new sets. */
#include "../commands/distinct.h"
#include "../filters/filter.h"
#include "../frame/json.h"
#include "../frame/output.h"
#include "../frame/terminal.h"
#include "../input/fields.h"
#include "redis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Prints the number of the set, or of the union of several. `lines` is the number of lines that
 * were added, or NAN. Returns the exit status. */
static int print_remote_card(const struct args *a, const struct remote *r, unsigned sets,
                             const tamis_cardinality *n, double lines)
{
    double bytes = 0;
    if (!isfinite(n->value))
        return complain(r->at.shown, "is too full: it had more than %s distinct lines",
                        grouped_real(floor(n->low)));
    if (a->quiet) return EXIT_FOUND;
    if (!a->json) {
        print_number(a, n);
        putchar('\n');
        return EXIT_FOUND;
    }
    tamis_facts *f = remote_facts(r);
    if (f == NULL) return EXIT_ERROR;
    for (unsigned i = 0; i < cluster_shards(r->s); i++) bytes += (double)f[i].bytes;
    json_open('{');
    json_cardinality(n, !is_distinct(f));
    json_number("lines", lines);
    json_number("skipped", NAN);
    json_number("bytes", sets == 1 ? bytes : NAN);
    json_close('}');
    putchar('\n');
    free(f);
    return EXIT_FOUND;
}

/* Opens the sets of the other words at the servers of the first. False after a message. */
static bool open_others(const struct args *a, const struct remote *r, struct cluster_set **sets)
{
    for (int i = 1; i < a->n_words; i++) {
        struct cluster_address at;
        const char *why =
            cluster_is_address(a->words[i])
                ? remote_sibling(a->words[i], &r->at, &at)
                : "is a file; files and sets at redis:// addresses cannot be combined";
        if (why == NULL) sets[i] = cluster_set_open(r->c, at.name);
        if (why == NULL && sets[i] == NULL) why = cluster_why(r->c);
        if (why != NULL) {
            complain(cluster_is_address(a->words[i]) ? at.shown : a->words[i], "%s", why);
            return false;
        }
    }
    return true;
}

static int count_sets(const struct args *a)
{
    struct remote r = {0};
    tamis_cardinality n = TAMIS_CARDINALITY_INIT;
    int status = EXIT_ERROR;
    struct cluster_set **sets = calloc((size_t)a->n_words, sizeof *sets);
    if (sets == NULL) return complain(NULL, "not enough memory");
    if (remote_open(a, a->words[0], &r) && open_others(a, &r, sets)) {
        sets[0] = r.s;
        if (cluster_sets_card(sets, (unsigned)a->n_words, &n))
            status = print_remote_card(a, &r, (unsigned)a->n_words, &n, NAN);
        else
            status = remote_complain(&r);
    }
    for (int i = 1; i < a->n_words; i++) cluster_set_close(sets[i]);
    free(sets);
    remote_close(&r);
    return status;
}

static int make_and_count(const struct args *a)
{
    struct remote r = {0};
    tamis_cardinality n = TAMIS_CARDINALITY_INIT;
    uint64_t lines = 0;
    int status = remote_make_distinct(a, &r, &lines);
    if (status == EXIT_FOUND) {
        if (cluster_sets_card(&r.s, 1, &n))
            status = print_remote_card(a, &r, 1, &n, (double)lines);
        else
            status = remote_complain(&r);
    }
    remote_close(&r);
    return status;
}

/* The message for an option that is not for sets at servers; NULL: none is given. */
static const char *wrong_for_distinct(const struct args *a)
{
    const bool makes = a->output.path != NULL;
    if (a->lines.group_field.text != NULL || a->top.most != 0)
        return "--by counts lines of files, and makes no set";
    if (!makes &&
        (a->plan.seeded || a->plan.error != 0 || a->plan.bytes != 0 || a->plan.generations != 0 ||
         a->lines.field.text != NULL || a->redis.shards != 0 || a->redis.replicas != 0))
        return "a set accepts only --interval and --json; combine sets with 'tamis merge', and add "
               "lines with 'tamis add'";
    for (int i = 0; i < a->n_words && makes; i++)
        if (cluster_is_address(a->words[i]))
            return "-o makes a set of lines; combine sets with 'tamis merge'";
    return NULL;
}

int remote_distinct(const struct args *a)
{
    const char *wrong = wrong_for_distinct(a);
    if (wrong != NULL) return complain(NULL, "distinct: with redis://: %s", wrong);
    if (!check_fields(&a->lines)) return EXIT_ERROR;
    return finish_output(a->output.path != NULL ? make_and_count(a) : count_sets(a));
}

/* --- info ------------------------------------------------------------------------------------- */

bool remote_card(const struct remote *r, tamis_cardinality *out)
{
    *out = (tamis_cardinality)TAMIS_CARDINALITY_INIT;
    if (cluster_sets_card(&r->s, 1, out)) return true;
    remote_complain(r);
    return false;
}

void print_remote_distinct(const tamis_cardinality *n, uint64_t bytes)
{
    printf("  distinct  %s", grouped_real(round(n->value)));
    if (n->exact)
        printf(", exactly\n");
    else
        printf(", with 99 %% certainty %s to %s; error %.2g %%\n", grouped_real(floor(n->low)),
               grouped_real(ceil(n->high)), 100 * n->error);
    printf("  size      %s bytes\n", grouped(bytes));
}
