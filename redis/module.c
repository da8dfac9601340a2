/* The entry points of the module: what the server calls to load and unload it. */
#include "module.h"

#include <stdio.h>

#define VISIBLE __attribute__((visibility("default")))
/* Clients look for a module of this name to find out which commands exist. */
#define NAME "bf"
#define VERSION 80000 /* the version of RedisBloom whose commands these are */
#define API 1

VISIBLE int RedisModule_OnLoad(redis_ctx *ctx, redis_string **argv, int argc);
VISIBLE int RedisModule_OnUnload(redis_ctx *ctx);

int RedisModule_OnLoad(redis_ctx *ctx, redis_string **argv, int argc)
{
    if (redis_api_load(ctx) != REDIS_OK) {
        fprintf(stderr, "tamis-redis.so: this server is too old, 7.0 is the oldest\n");
        return REDIS_ERR;
    }
    if (redis.IsModuleNameBusy(NAME)) {
        redis.Log(ctx, "warning",
                  "a module named " NAME " is loaded already, which is RedisBloom or Tamis; load "
                  "only one of them (docs/REDIS.md)");
        return REDIS_ERR;
    }
    redis.SetModuleAttribs(ctx, NAME, VERSION, API);
    /* With this option, a payload that ends early is an error of the module instead of the end of
     * the server. */
    redis.SetModuleOptions(ctx, REDIS_OPTION_IO_ERRORS);
    if (redis_settings_load(ctx, argv, argc) != REDIS_OK || redis_types_load(ctx) != REDIS_OK ||
        redis_commands_load(ctx) != REDIS_OK || redis_stats_load(ctx) != REDIS_OK)
        return REDIS_ERR;
    redis.Log(ctx, "notice", "Tamis %s: BF, CF, CMS, TOPK, TDIGEST as RedisBloom, and TAMIS",
              tamis_version());
    return REDIS_OK;
}

/* Refuses always: a server cannot forget the types of values that it holds. */
int RedisModule_OnUnload(redis_ctx *ctx)
{
    (void)ctx;
    return REDIS_ERR;
}
