#include "evidence.h"

#include "../frame/json.h"
#include "../frame/output.h"

#include <tamis/publish.h>

/* Nothing is known about a line. */
#define DEFAULT_PRIOR 0.5

/* The message for an option that takes a bit for a verdict; NULL: no such option is given. */
static const char *wrong_for_private(const struct args *a)
{
    if (a->check.confirm != NULL)
        return "a private filter misses some members, so --confirm cannot make its answers exact; "
               "check -f LIST compares with the list itself";
    if (a->select.invert || a->select.count || a->select.only_names || a->select.most_lines != 0 ||
        a->quiet)
        return "a private filter gives probabilities, not verdicts, so -c, -l, -m, -q and -v "
               "cannot be used";
    return NULL;
}

bool evidence_open(struct evidence *e, const struct args *a, const tamis *t)
{
    const double prior = a->check.prior != 0 ? a->check.prior : DEFAULT_PRIOR;
    tamis_error why;
    e->worth = (tamis_evidence){.struct_size = sizeof e->worth};
    const tamis_status s = tamis_evidence_of(t, prior, &e->worth, &why);
    const bool other = s == TAMIS_EUNSUPPORTED;
    if (other && a->check.prior == 0) return true;
    const char *wrong = wrong_for_private(a);
    if (other) wrong = "--prior requires a private filter";
    if (!other && s != TAMIS_OK) wrong = why.text;
    if (wrong != NULL) {
        complain(a->words[0], "%s", wrong);
        return false;
    }
    e->prior = prior;
    if (a->check.prior == 0 && !a->json)
        complain(a->words[0],
                 "a private filter gives no verdicts: each line is printed after the probability "
                 "that it is a member, for a prior of 50 %%; see --prior");
    return true;
}

void evidence_add(struct evidence *e, const struct args *a, const struct block *b,
                  const uint8_t *bits, struct label *label)
{
    label_begin(label, a, b);
    for (size_t i = 0; i < b->n; i++) {
        const bool yes = (bits[i / 8] >> i % 8 & 1) != 0;
        e->lines[yes]++;
        if (a->json) continue;
        const tamis_bytes before = label_of(label, i);
        printf("%.6g\t", yes ? e->worth.yes : e->worth.no);
        fwrite(before.p, 1, before.len, stdout);
        fwrite(b->lines[i].p, 1, b->lines[i].len + 1, stdout);
    }
}

static void json_answer(bool set, uint64_t lines, double p, double low, double high)
{
    json_open('{');
    json_bool("bit_set", set);
    json_count("lines", lines);
    json_number("probability", p);
    json_number("probability_low", low);
    json_number("probability_high", high);
    json_close('}');
}

void evidence_report(const struct evidence *e)
{
    const tamis_evidence *w = &e->worth;
    json_number("prior", e->prior);
    json_list("answers");
    json_answer(true, e->lines[1], w->yes, w->yes_low, w->yes_high);
    json_answer(false, e->lines[0], w->no, w->no_low, w->no_high);
    json_close(']');
}
