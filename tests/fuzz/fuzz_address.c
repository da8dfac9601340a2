/* Hostile redis://, rediss:// and unix:// addresses. They are accepted or refused with a reason;
 * what messages show has no credentials; and an address that is written again from its parts, with
 * every byte escaped, has the same parts. ./run fuzz address */
#include "fuzz.h"

#include "../../cluster/cluster.h"

#include <string.h>

#define ROOM ((size_t)1 << 16)

static void put_text(char *to, const char *text)
{
    strcat(to, text);
}

static void put_escaped(char *to, const char *text)
{
    char *p = to + strlen(to);
    for (; *text != '\0'; text++) p += sprintf(p, "%%%02X", (unsigned char)*text);
    *p = '\0';
}

static void put_option(char *to, char *mark, const char *name, const char *value)
{
    if (value[0] == '\0') return;
    const size_t n = strlen(to);
    to[n] = *mark;
    to[n + 1] = '\0';
    *mark = '&';
    put_text(to, name);
    put_text(to, "=");
    put_escaped(to, value);
}

static void write_address(const struct cluster_address *a, char *to)
{
    char number[16], mark = '?';
    to[0] = '\0';
    put_text(to, a->port == 0 ? "unix://" : a->secure ? "rediss://" : "redis://");
    if (a->user[0] != '\0' || a->password[0] != '\0') {
        put_escaped(to, a->user);
        put_text(to, ":");
        put_escaped(to, a->password);
        put_text(to, "@");
    }
    if (a->port == 0) put_text(to, "/"); /* the path begins with it */
    put_escaped(to, a->port == 0 ? a->host + 1 : a->host);
    if (a->port != 0) {
        sprintf(number, ":%d", a->port);
        put_text(to, number);
        put_text(to, "/");
        put_escaped(to, a->name);
    } else {
        put_option(to, &mark, "name", a->name);
    }
    sprintf(number, "%u", a->db);
    if (a->db != 0) {
        const size_t n = strlen(to);
        snprintf(to + n, ROOM - n, "%cdb=%s", mark, number);
        mark = '&';
    }
    put_option(to, &mark, "password-file", a->password_file);
    put_option(to, &mark, "cacert", a->ca);
    put_option(to, &mark, "cert", a->cert);
    put_option(to, &mark, "key", a->key);
    put_option(to, &mark, "sni", a->sni);
}

static void check_same(const struct cluster_address *a, const struct cluster_address *b)
{
    must(a->port == b->port && a->secure == b->secure && a->db == b->db, "the same server");
    must(strcmp(a->host, b->host) == 0 && strcmp(a->name, b->name) == 0, "the same place");
    must(strcmp(a->user, b->user) == 0 && strcmp(a->password, b->password) == 0,
         "the same credentials");
    must(strcmp(a->password_file, b->password_file) == 0 && strcmp(a->ca, b->ca) == 0 &&
             strcmp(a->cert, b->cert) == 0 && strcmp(a->key, b->key) == 0 &&
             strcmp(a->sni, b->sni) == 0,
         "the same options");
    must(cluster_same_servers(a, b) && cluster_same_servers(b, a), "an address agrees with itself");
}

/* Everything up to the end of the credentials is neither shown nor needed to show the rest. */
static void check_shown(const char *word, const struct cluster_address *a)
{
    const size_t scheme = (size_t)(strstr(word, "://") + 3 - word);
    must(a->credentials_end >= scheme && a->credentials_end <= strlen(word), "an end within");
    must(strncmp(a->shown, word, scheme) == 0, "the scheme is shown");
    const char *rest = a->shown + scheme, *host = word + a->credentials_end;
    const size_t n = strcspn(host, "?"), room = sizeof a->shown - scheme - 1;
    must(strncmp(rest, host, n < room ? n : room) == 0, "the rest is shown as it is");
    const char *at = strchr(word, '@');
    const size_t authority = scheme + strcspn(word + scheme, "/?");
    must(at == NULL || (size_t)(at - word) >= authority || (size_t)(at - word) < a->credentials_end,
         "what is before an @ is not shown");
}

static void try_word(const char *word, char *again)
{
    struct cluster_address a, b;
    if (!cluster_is_address(word)) return;
    const char *why = cluster_parse(word, &a);
    check_shown(word, &a);
    must(why == NULL || why[0] != '\0', "a reason");
    const char *server = cluster_parse_server(word, &b);
    must(why != NULL || server != NULL, "an address has a name, or none");
    if (server == NULL) must(b.name[0] == '\0', "a server has no name");
    if (why != NULL) return;
    must(a.name[0] != '\0' && a.host[0] != '\0' && a.port >= 0 && a.port < 65536, "all is there");
    must(strpbrk(a.name, "{}") == NULL, "no braces");
    must(a.secure || (a.ca[0] == '\0' && a.cert[0] == '\0' && a.key[0] == '\0' && a.sni[0] == '\0'),
         "certificates only with TLS");
    write_address(&a, again);
    must(cluster_parse(again, &b) == NULL, "it is read again");
    check_same(&a, &b);
    cluster_wipe(&b);
    must(b.user[0] == '\0' && b.password[0] == '\0', "wiped");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const schemes[] = {"", "redis://", "rediss://", "unix://"};
    static char again[ROOM];
    if (size > 8192) return 0;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        /* Exactly as long as it must be, so that a read beyond its end is found. */
        const size_t n = strlen(schemes[i]);
        char *word = malloc(n + size + 1);
        if (word == NULL) abort();
        memcpy(word, schemes[i], n);
        if (size > 0) memcpy(word + n, data, size);
        word[n + size] = '\0';
        try_word(word, again);
        free(word);
    }
    return 0;
}
