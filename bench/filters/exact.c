/* Structures without error, for the lecture's question "what does a filter save?": a list, a sorted
 * list, a hash table in memory, and LMDB, a database on disk. All of them hold 64-bit integers. */
#include "../common/bench.h"

#include <lmdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t word(const tamis_bytes *key)
{
    uint64_t x;
    memcpy(&x, key->p, sizeof x);
    return x;
}

/* --- Lists ------------------------------------------------------------------------------------ */

struct list {
    uint64_t n;
    uint64_t words[];
};

static void *open_list(const void *about)
{
    const struct keys *k = about;
    return take(sizeof(struct list) + k->n * sizeof(uint64_t));
}

static void add_list(void *it, const struct batch *b)
{
    struct list *list = it;
    for (size_t i = 0; i < b->n; i++) list->words[list->n++] = word(b->keys + i);
}

static size_t ask_list(void *it, const struct batch *b)
{
    const struct list *list = it;
    size_t yes = 0;
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t x = word(b->keys + i);
        uint64_t at = 0;
        while (at < list->n && list->words[at] != x) at++;
        yes += at < list->n;
    }
    return yes;
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void sort_list(void *it)
{
    struct list *list = it;
    qsort(list->words, list->n, sizeof *list->words, ascending);
}

static size_t ask_sorted(void *it, const struct batch *b)
{
    const struct list *list = it;
    size_t yes = 0;
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t x = word(b->keys + i);
        uint64_t from = 0;
        for (uint64_t n = list->n; n > 1; n -= n / 2)
            from += list->words[from + n / 2] <= x ? n / 2 : 0;
        yes += list->words[from] == x;
    }
    return yes;
}

static uint64_t list_bytes(void *it)
{
    return ((struct list *)it)->n * sizeof(uint64_t);
}

/* --- A hash table: open addressing, linear probing, at most half full ------------------------- */

struct table {
    uint64_t slots;
    bool zero; /* the key that marks an empty slot is a member */
    uint64_t words[];
};

static void *open_table(const void *about)
{
    const struct keys *k = about;
    struct table *t = take(sizeof *t + 2 * k->n * sizeof *t->words);
    t->slots = 2 * k->n;
    return t;
}

static uint64_t place_of(uint64_t x, uint64_t slots)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)mix(x) * slots >> 64);
}

/* Returns the slot of x, or the empty slot where it belongs. */
static uint64_t slot_of(const struct table *t, uint64_t x)
{
    uint64_t at = place_of(x, t->slots);
    while (t->words[at] != 0 && t->words[at] != x) at = at + 1 == t->slots ? 0 : at + 1;
    return at;
}

static void add_table(void *it, const struct batch *b)
{
    struct table *t = it;
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t x = word(b->keys + i);
        if (x == 0) t->zero = true;
        t->words[slot_of(t, x)] = x;
    }
}

static size_t ask_table(void *it, const struct batch *b)
{
    const struct table *t = it;
    size_t yes = 0;
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t x = word(b->keys + i);
        yes += x == 0 ? t->zero : t->words[slot_of(t, x)] == x;
    }
    return yes;
}

static uint64_t table_bytes(void *it)
{
    return ((struct table *)it)->slots * sizeof(uint64_t);
}

/* Counts the pairs of keys that collide when n keys are put into n places; (n - 1) / 2 are
 * expected. */
static double collisions(const struct keys *k)
{
    double pairs = 0;
    uint32_t *met = take(k->n * sizeof *met);
    for (uint64_t i = 0; i < k->n; i++) pairs += met[place_of(k->words[i], k->n)]++;
    give_back(met);
    return pairs;
}

/* --- LMDB ------------------------------------------------------------------------------------- */

struct store {
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi db;
};

static void must(int code)
{
    if (code != 0) die("LMDB: %s", mdb_strerror(code));
}

/* Removes the name of the open files, so that nothing remains however the program ends. */
static void unname(const char *folder)
{
    static const char *const names[] = {"data.mdb", "lock.mdb"};
    for (size_t i = 0; i < LENGTH(names); i++) {
        char path[300];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void *open_store(const void *about)
{
    const struct keys *k = about;
    const char *room = getenv("TMPDIR");
    char folder[256];
    struct store *s = calloc(1, sizeof *s);
    if (s == NULL) die("no memory");
    snprintf(folder, sizeof folder, "%s/tamis-bench-XXXXXX", room != NULL ? room : "/tmp");
    if (mkdtemp(folder) == NULL) die("cannot make a folder like %s", folder);
    must(mdb_env_create(&s->env));
    must(mdb_env_set_mapsize(s->env, (size_t)k->n * 128 + ((size_t)16 << 20)));
    must(mdb_env_open(s->env, folder, MDB_NOSYNC | MDB_WRITEMAP, 0600));
    unname(folder);
    must(mdb_txn_begin(s->env, NULL, 0, &s->txn));
    must(mdb_dbi_open(s->txn, NULL, MDB_INTEGERKEY, &s->db));
    return s;
}

static void add_store(void *it, const struct batch *b)
{
    struct store *s = it;
    for (size_t i = 0; i < b->n; i++) {
        uint64_t x = word(b->keys + i);
        MDB_val key = {sizeof x, &x}, nothing = {0, NULL};
        must(mdb_put(s->txn, s->db, &key, &nothing, 0));
    }
}

static void finish_store(void *it)
{
    struct store *s = it;
    must(mdb_txn_commit(s->txn));
    must(mdb_txn_begin(s->env, NULL, MDB_RDONLY, &s->txn));
}

static size_t ask_store(void *it, const struct batch *b)
{
    struct store *s = it;
    size_t yes = 0;
    for (size_t i = 0; i < b->n; i++) {
        uint64_t x = word(b->keys + i);
        MDB_val key = {sizeof x, &x}, value;
        const int code = mdb_get(s->txn, s->db, &key, &value);
        if (code != MDB_NOTFOUND) must(code);
        yes += code == 0;
    }
    return yes;
}

static uint64_t store_bytes(void *it)
{
    const struct store *s = it;
    MDB_envinfo info;
    MDB_stat stat;
    must(mdb_env_info(s->env, &info));
    must(mdb_env_stat(s->env, &stat));
    return (info.me_last_pgno + 1) * stat.ms_psize;
}

static void close_store(void *it)
{
    struct store *s = it;
    mdb_txn_abort(s->txn);
    mdb_env_close(s->env);
    free(s);
}

/* --- All of them ------------------------------------------------------------------------------ */

static const struct {
    const char *kind;
    struct subject subject;
    uint64_t asks; /* for the slow structures; 0 means as many as for a filter */
} STRUCTURES[] = {
    {"list",
     {.open = open_list, .add = add_list, .ask = ask_list, .bytes = list_bytes, .close = give_back},
     64},
    {"sorted-list",
     {.open = open_list,
      .add = add_list,
      .finish = sort_list,
      .ask = ask_sorted,
      .bytes = list_bytes,
      .close = give_back},
     1000000},
    {"hash-table",
     {.open = open_table,
      .add = add_table,
      .ask = ask_table,
      .bytes = table_bytes,
      .close = give_back},
     0},
    {"lmdb",
     {.open = open_store,
      .add = add_store,
      .finish = finish_store,
      .ask = ask_store,
      .bytes = store_bytes,
      .close = close_store},
     1000000},
};

void measure_exact(const struct scene *s)
{
    for (size_t i = 0; i < LENGTH(STRUCTURES); i++) {
        struct subject subject = STRUCTURES[i].subject;
        subject.about = &s->in;
        struct trial trial = {.subject = &subject,
                              .row = row_of(STRUCTURES[i].kind, "single", INTEGERS, s->in.n),
                              .in = &s->in,
                              .out = &s->out,
                              .exact = true,
                              .asks =
                                  STRUCTURES[i].asks != 0 ? STRUCTURES[i].asks : settings.most_asks,
                              .shape = {.call = BATCH, .threads = 1}};
        trial.shuffled = &s->shuffled;
        if (strcmp(STRUCTURES[i].kind, "hash-table") == 0)
            trial.row.collisions = collisions(&s->in);
        measure(&trial);
    }
}
