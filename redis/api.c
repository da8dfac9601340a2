#include "api.h"

#include <string.h>

struct redis_api redis;

int redis_api_load(redis_ctx *ctx)
{
    /* A module context begins with a pointer to the function that finds all others. */
    int (*get)(const char *name, void *out);
    memcpy(&get, (const void *)ctx, sizeof get);
    int status = REDIS_OK;
#define GET(optional, result, name, parameters)                                                    \
    if (get("RedisModule_" #name, &redis.name) != REDIS_OK) {                                      \
        redis.name = NULL;                                                                         \
        if (!optional) status = REDIS_ERR;                                                         \
    }
    REDIS_API(GET)
#undef GET
    return status;
}
