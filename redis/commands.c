#include "commands.h"

#include <ctype.h>
#include <stdio.h>

/* Includes the NUL; TAMIS.ESTIMATE takes 15. */
#define NAME_BYTES 24

struct command_row {
    redis_command_function *run;
    const char *name, *since, *flags, *arguments, *summary;
    int arity;
    enum redis_keys keys;
};

static const struct command_row commands[] = {
#define ROW(handler, name, since, arity, flags, keys, arguments, summary)                          \
    {redis_##handler, name, since, flags, arguments, summary, arity, REDIS_KEYS_##keys},
    REDIS_COMMANDS(ROW)
#undef ROW
};

int redis_tell_merge_keys(redis_ctx *ctx, redis_string **argv, int argc)
{
    long long n;
    redis.KeyAtPosWithFlags(ctx, 1, REDIS_KEY_WRITE);
    if (!redis_number(argv[2], &n)) return REDIS_OK;
    for (int i = 3; i < argc && i - 3 < n; i++) redis.KeyAtPosWithFlags(ctx, i, REDIS_KEY_READ);
    return REDIS_OK;
}

static struct redis_key_spec range(int first, int last, uint64_t flags)
{
    return (struct redis_key_spec){.flags = flags,
                                   .begin = REDIS_BEGIN_INDEX,
                                   .from.index.pos = first,
                                   .find = REDIS_FIND_RANGE,
                                   .keys.range = {last, 1, 0}};
}

/* Caching proxies must not keep replies that may change while they are cached. */
static bool is_fleeting(const char *name)
{
    return strncmp(name, "TOPK.", 5) != 0 &&
           (strstr(name, ".INFO") != NULL || strstr(name, ".DEBUG") != NULL ||
            strstr(name, "DUMP") != NULL);
}

static int set_info(redis_command *c, const struct command_row *row)
{
    static const struct redis_info_version version = {1, sizeof(struct redis_history),
                                                      sizeof(struct redis_key_spec),
                                                      sizeof(struct redis_argument)};
    struct redis_key_spec keys[3] = {0};
    keys[0] = range(1, 0, row->keys == REDIS_KEYS_READ ? REDIS_KEY_READ : REDIS_KEY_WRITE);
    if (row->keys == REDIS_KEYS_LIST) keys[0].flags = REDIS_KEY_READ | REDIS_KEY_INCOMPLETE;
    if (row->keys == REDIS_KEYS_ALL) keys[1] = range(2, -1, REDIS_KEY_READ);
    if (row->keys == REDIS_KEYS_MERGE)
        keys[1] = (struct redis_key_spec){.flags = REDIS_KEY_READ,
                                          .begin = REDIS_BEGIN_INDEX,
                                          .from.index.pos = 2,
                                          .find = REDIS_FIND_KEYNUM,
                                          .keys.keynum = {0, 1, 1}};
    struct redis_arguments room;
    const struct redis_command_info info = {.version = &version,
                                            .summary = row->summary,
                                            .since = row->since,
                                            .tips = is_fleeting(row->name) ? "dont_cache" : NULL,
                                            .arity = row->arity,
                                            .keys = keys,
                                            .arguments = redis_arguments(row->arguments, &room)};
    if (info.arguments == NULL) return REDIS_ERR;
    return redis.SetCommandInfo(c, &info);
}

/* Adds the command to the ACL category of its family and to those that its flags imply. Servers
 * before 7.4 have no categories for the commands of modules. */
static int set_categories(redis_command *c, const struct command_row *row)
{
    static const struct {
        const char *family, *category;
    } families[] = {{"BF.", "bloom"},  {"CF.", "cuckoo"},       {"CMS.", "cms"},
                    {"TOPK.", "topk"}, {"TDIGEST.", "tdigest"}, {"TAMIS.", "tamis"}};
    char text[64];
    if (redis.AddACLCategory == NULL || redis.SetCommandACLCategories == NULL) return REDIS_OK;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strncmp(row->name, families[i].family, strlen(families[i].family)) == 0)
            snprintf(text, sizeof text, "%s %s%s", families[i].category,
                     strstr(row->flags, "write") != NULL ? "write" : "read",
                     strstr(row->flags, "fast") != NULL ? " fast" : "");
    return redis.SetCommandACLCategories(c, text);
}

/* Registers one command. Its name is in lower case, as in RedisBloom: errors, COMMAND INFO, ACL
 * rules and statistics show the registered name. Clients may write it in any case. */
static int load_command(redis_ctx *ctx, const struct command_row *row)
{
    const int last = row->keys == REDIS_KEYS_ALL ? -1 : 1;
    char name[NAME_BYTES] = {0};
    const size_t len = strlen(row->name);
    if (len >= sizeof name) {
        redis.Log(ctx, "warning", "%s: the name is too long", row->name);
        return REDIS_ERR;
    }
    for (size_t i = 0; i < len; i++) name[i] = (char)tolower((unsigned char)row->name[i]);
    if (redis.CreateCommand(ctx, name, row->run, row->flags, 1, last, 1) != REDIS_OK) {
        redis.Log(ctx, "warning", "%s: another module has this command", name);
        return REDIS_ERR;
    }
    redis_command *c = redis.GetCommand(ctx, name);
    if (c == NULL || set_info(c, row) != REDIS_OK) return REDIS_ERR;
    return set_categories(c, row);
}

int redis_commands_load(redis_ctx *ctx)
{
    static const char *const categories[] = {"bloom", "cuckoo", "cms", "topk", "tdigest", "tamis"};
    /* A category exists already if another module, or an earlier load of this one, has added it. */
    for (size_t i = 0; redis.AddACLCategory != NULL && i < 6; i++)
        redis.AddACLCategory(ctx, categories[i]);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (load_command(ctx, &commands[i]) != REDIS_OK) return REDIS_ERR;
    return REDIS_OK;
}
