/* The commands that accept sets at redis:// addresses, and what they share. */
#include "../redis/redis.h"
#include "../frame/commands.h"
#include "../frame/output.h"
#include "../frame/stop.h"

#include <tamis/inspect.h>

#include <stdlib.h>
#include <string.h>

static bool is_secure(const char *word)
{
    return strncmp(word, "rediss://", 9) == 0;
}

static bool is_redis(const char *word)
{
    return strncmp(word, "redis://", 8) == 0 || is_secure(word) || strncmp(word, "unix://", 7) == 0;
}

/* The commands whose words are filters: all of the words, or only the first. The words of other
 * commands are files, items or URLs. */
static const struct {
    const char *name;
    bool all;
} takes_filters[] = {
    {"add", false},         {"remove", false},  {"rotate", true}, {"compact", false},
    {"check", false},       {"get", false},     {"freq", false},  {"top", false},
    {"merge", true},        {"compare", true},  {"info", true},   {"verify", true},
    {"explain cost", true}, {"convert", true},  {"pack", true},   {"unpack", true},
    {"release", true},      {"distinct", true}, {"diff", true},   {"migrate", true}};

/* Whether a filter that the command line names has the property. */
static bool any_filter(const struct args *a, bool (*has)(const char *word))
{
    if (a->output.path != NULL && has(a->output.path)) return true;
    if (a->uniq.state != NULL && has(a->uniq.state)) return true;
    if (a->check.patterns.n > 0) return false; /* then the words are files */
    for (size_t i = 0; i < sizeof takes_filters / sizeof *takes_filters; i++) {
        if (strcmp(takes_filters[i].name, a->command->name) != 0) continue;
        const int n = takes_filters[i].all ? a->n_words : a->n_words > 0;
        for (int word = 0; word < n; word++)
            if (has(a->words[word])) return true;
    }
    return false;
}

bool names_redis(const struct args *a)
{
    return any_filter(a, is_redis);
}

bool check_no_redis_options(const struct args *a)
{
    const char *wrong = NULL;
    if (a->redis.timeout != 0) wrong = "--timeout";
    if (a->redis.each) wrong = "--each";
    if (a->redis.ack) wrong = "--ack";
    if (a->redis.replicas != 0) wrong = "--wait";
    if (a->redis.shards != 0) wrong = "--shards";
    if (a->redis.password_file != NULL) wrong = "--password-file";
    if (a->redis.sni != NULL) wrong = "--sni";
    if (a->redis.cert != NULL) wrong = "--cert";
    if (a->redis.cacert != NULL) wrong = "--cacert";
    if (a->redis.key != NULL)
        complain(NULL,
                 "%s: --key requires a set at a rediss:// address; the secret key of a filter is "
                 "--key-file",
                 a->command->name);
    else if (wrong != NULL)
        complain(NULL, "%s: %s requires a set at a redis:// address", a->command->name, wrong);
    return wrong == NULL && a->redis.key == NULL;
}

#ifndef WITH_REDIS
int run_redis(const struct args *a)
{
    return complain(NULL,
                    "%s: this tamis was built without hiredis, so redis:// "
                    "addresses are not available",
                    a->command->name);
}
#else

#define LONGEST_TIMEOUT 86400

/* The message for an option that no command has for sets at servers; NULL: none is given. */
static const char *wrong_for_redis(const struct args *a)
{
    if (a->key.file != NULL)
        return "--key-file is not available, because servers hash without secret keys";
    if (a->plan.m != 0)
        return "--m is not available, because the shards determine the shape; give --items, --fpr "
               "or --bytes";
    if (a->work.memory != 0 || a->work.temp != NULL)
        return "--memory and --temp are not available, because keys wait at the servers";
    if (a->foreign.to != NULL || a->foreign.from != NULL || a->foreign.type != NULL ||
        a->foreign.column != NULL || a->foreign.row_group != NULL)
        return "filters of other programs must be files";
    if (a->lines.value_field.text != NULL ||
        (a->plan.kind != NULL && strcmp(a->plan.kind, "map") == 0))
        return "maps must be files";
    if (a->check.confirm != NULL) return "--confirm works only with files";
    if (a->plan.grow || a->plan.list.n > 0) return "--grow and --from work only with files";
    if (a->check.prior != 0) return "--prior works only with files";
    if (a->select.numbers || a->select.names || a->select.only_names || a->select.most_lines != 0 ||
        a->lines.list_field.text != NULL)
        return "-n, -H, -l, -m and --list-field work only with files";
    if (a->picture.plot) return "--plot works only with files";
    if (a->top.live || a->top.min != 0) return "--live and --min work only with files";
    if (a->redis.shards > CLUSTER_SLOTS)
        return "--shards can be at most 16384, the number of slots of a cluster";
    if (a->redis.replicas > 1000) return "--wait can be at most 1000 replicas";
    if (a->redis.timeout > LONGEST_TIMEOUT) return "--timeout can be at most a day";
    return NULL;
}

int run_redis(const struct args *a)
{
    static const struct {
        const char *name;
        int (*run)(const struct args *a);
    } can[] = {{"build", remote_build}, {"count", remote_count},       {"add", remote_add},
               {"check", remote_check}, {"freq", remote_freq},         {"remove", remote_remove},
               {"merge", remote_merge}, {"info", remote_info},         {"rotate", remote_rotate},
               {"top", remote_top},     {"distinct", remote_distinct}, {"migrate", remote_migrate}};
    for (size_t i = 0; i < sizeof can / sizeof *can; i++) {
        if (strcmp(can[i].name, a->command->name) != 0) continue;
        const char *wrong = wrong_for_redis(a);
        if (wrong != NULL) return complain(NULL, "%s: with redis://: %s", a->command->name, wrong);
        any_filter(a, hide_credentials);
        const bool good = check_tls_options(a, any_filter(a, is_secure));
        const int status = good ? can[i].run(a) : EXIT_ERROR;
        forget_credentials();
        /* After a failure a message has said what was kept. */
        if (status == EXIT_ERROR) stop_report(NULL, NULL);
        stop_now();
        return status;
    }
    if (strcmp(a->command->name, "get") == 0)
        return complain(NULL,
                        "get works on files; for a map in a key, send TAMIS.VALUE to the server");
    return complain(NULL, "%s works on files, not on sets at redis:// addresses", a->command->name);
}

/* --- Servers ---------------------------------------------------------------------------------- */

int remote_complain(const struct remote *r)
{
    return complain(r->at.shown, "%s",
                    r->c == NULL || cluster_why(r->c) == NULL ? "not enough memory"
                                                              : cluster_why(r->c));
}

/* Connects to an address that is read by `parse`. */
static bool connect_by(const struct args *a, const char *word, parse_address *parse,
                       struct remote *out)
{
    if (!remote_address(a, word, parse, &out->at)) return false;
    const struct cluster_options o = {.replicas = (unsigned)a->redis.replicas,
                                      .patience = a->redis.timeout};
    out->c = cluster_open(&out->at, &o);
    if (out->c != NULL && cluster_why(out->c) == NULL) return true;
    remote_complain(out);
    return false;
}

bool remote_connect(const struct args *a, const char *word, struct remote *out)
{
    memset(out, 0, sizeof *out);
    if (cluster_is_address(word)) return connect_by(a, word, cluster_parse, out);
    complain(word, "is a file; files and sets at redis:// addresses cannot be combined");
    return false;
}

bool remote_connect_server(const struct args *a, const char *word, struct remote *out)
{
    memset(out, 0, sizeof *out);
    if (cluster_is_address(word)) return connect_by(a, word, cluster_parse_server, out);
    complain(word, "is not the address of a server: redis://HOST:PORT");
    return false;
}

bool remote_open(const struct args *a, const char *word, struct remote *out)
{
    if (!remote_connect(a, word, out)) return false;
    out->s = cluster_set_open(out->c, out->at.name);
    if (out->s == NULL) remote_complain(out);
    return out->s != NULL;
}

const char *remote_abandon(const struct remote *r)
{
    return cluster_set_abandon(r->s)
               ? "nothing was kept"
               : "its keys could not all be removed; they are not a set, and -f replaces them";
}

void remote_close(struct remote *r)
{
    cluster_set_close(r->s);
    cluster_close(r->c);
    cluster_wipe(&r->at);
    r->s = NULL;
    r->c = NULL;
}

tamis_facts *remote_facts(const struct remote *r)
{
    tamis_facts *f = calloc(cluster_shards(r->s), sizeof *f);
    if (f != NULL && cluster_set_info(r->s, f)) return f;
    remote_complain(r);
    free(f);
    return NULL;
}
#endif
