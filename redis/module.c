/* The entrance: what the server calls when it loads the module. */
#include "module.h"

#include <stdio.h>

#define VISIBLE __attribute__((visibility("default")))
/* Clients look for a module of this name to know what it can. */
#define NAME "bf"
#define VERSION 80000 /* of RedisBloom, whose commands these are */
#define API 1

VISIBLE int RedisModule_OnLoad(redis_ctx *ctx, redis_string **argv, int argc);
VISIBLE int RedisModule_OnUnload(redis_ctx *ctx);

int RedisModule_OnLoad(redis_ctx *ctx, redis_string **argv, int argc)
{
    if (redis_api_load(ctx) != REDIS_OK) {
        fprintf(stderr, "tamis-redis.so: this server is too old, 7.0 is the oldest\n");
        return REDIS_ERR;
    }
    if (redis.IsModuleNameBusy(NAME)) return REDIS_ERR;
    redis.SetModuleAttribs(ctx, NAME, VERSION, API);
    /* A payload that ends too early is then our error, and not the end of the server. */
    redis.SetModuleOptions(ctx, REDIS_OPTION_IO_ERRORS);
    if (redis_settings_load(ctx, argv, argc) != REDIS_OK || redis_types_load(ctx) != REDIS_OK ||
        redis_commands_load(ctx) != REDIS_OK)
        return REDIS_ERR;
    redis.Log(ctx, "notice", "Tamis %s: BF, CF, CMS, TOPK as RedisBloom, and TAMIS",
              tamis_version());
    return REDIS_OK;
}

/* Never: a server cannot forget the types of values that it holds. */
int RedisModule_OnUnload(redis_ctx *ctx)
{
    (void)ctx;
    return REDIS_ERR;
}
