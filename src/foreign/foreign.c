/* The operations on foreign filters. Filters made here are changed in place; opened ones are only
 * read. Everything else depends on the format. */
#include "foreign.h"

#include "../core/handle.h"
#include "../core/sized.h"
#include "../image/durable.h"

#include <math.h>

/* In the order in which the content is compared: DCSO's fields are less restrictive than
 * RedisBloom's and come after them. */
static const struct foreign_format *const FORMATS[] = {
    &tamis__foreign_parquet, &tamis__foreign_redis_dump, &tamis__foreign_redisbloom,
    &tamis__foreign_dcso, &tamis__foreign_guava};
#define N_FORMATS (sizeof FORMATS / sizeof *FORMATS)

static const struct foreign_format *find(uint32_t id)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        if (FORMATS[i]->id == id) return FORMATS[i];
    return NULL;
}

const char *tamis_foreign_name(uint32_t format)
{
    const struct foreign_format *f = find(format);
    return f != NULL ? f->name : NULL;
}

uint32_t tamis_foreign_named(const char *name)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        if (strcmp(FORMATS[i]->name, name) == 0) return FORMATS[i]->id;
    return TAMIS_FOREIGN_AUTO;
}

/* --- Life cycle ------------------------------------------------------------------------------- */

static tamis_status own_bits(tamis_foreign *f, const tamis_options *o, uint64_t bytes,
                             tamis_error *why)
{
    if (o->max_bytes != 0 && bytes > o->max_bytes)
        return tamis__fail(why, TAMIS_ENOMEM, "%llu bytes, more than the limit of %llu",
                           (unsigned long long)bytes, (unsigned long long)o->max_bytes);
    f->owned = tamis__alloc(o->memory, bytes);
    return f->owned != NULL ? TAMIS_OK : tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
}

tamis_foreign *tamis__foreign_new(const struct foreign_format *format, const tamis_options *o,
                                  uint32_t links, uint64_t bytes, tamis_error *why)
{
    tamis_foreign *f = tamis__alloc(o->memory, sizeof *f + (uint64_t)links * sizeof(struct link));
    if (f == NULL) {
        tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
        return NULL;
    }
    if (bytes > 0 && own_bits(f, o, bytes, why) != TAMIS_OK) {
        tamis__free(o->memory, f);
        return NULL;
    }
    f->format = format;
    f->memory = o->memory;
    f->n_links = links;
    f->fpr_planned = (double)NAN;
    return f;
}

void tamis_foreign_close(tamis_foreign *f)
{
    if (f == NULL) return;
    const tamis_memory *memory = f->memory;
    tamis__free(memory, f->owned);
    tamis__free(memory, f);
}

uint32_t tamis_foreign_detect(const void *beginning, size_t n)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        if (FORMATS[i]->begins != NULL && FORMATS[i]->begins(beginning, n)) return FORMATS[i]->id;
    return TAMIS_FOREIGN_AUTO;
}

tamis_status tamis_foreign_open(const void *bytes, size_t size, uint32_t format,
                                const tamis_options *options, tamis_foreign **out, tamis_error *why)
{
    tamis_options o;
    if (out == NULL || (bytes == NULL && size > 0))
        return tamis__fail(why, TAMIS_EINVAL, "bytes and out must not be NULL");
    *out = NULL;
    tamis_status s = tamis__check_options(options, 0, &o, why);
    if (s != TAMIS_OK) return s;
    const uint8_t *p = bytes != NULL ? bytes : (const uint8_t *)"";
    if (format == TAMIS_FOREIGN_AUTO &&
        (format = tamis_foreign_detect(p, size)) == TAMIS_FOREIGN_AUTO)
        return tamis__corrupt(why, 0,
                              "not in a foreign format that can be recognised by its content");
    if (format == TAMIS_FOREIGN_REDISBLOOM && tamis__foreign_redis_dump.begins(p, size))
        format = TAMIS_FOREIGN_REDIS_DUMP;
    const struct foreign_format *f = find(format);
    if (f == NULL) return tamis__fail(why, TAMIS_EINVAL, "there is no such foreign format");
    return f->open(p, size, &o, out, why);
}

static tamis_status check_plan(const tamis_foreign_plan *plan, tamis_error *why)
{
    if (find(plan->format) == NULL)
        return tamis__fail(why, TAMIS_EINVAL, "there is no such foreign format");
    if (plan->items == 0 || plan->items > UINT64_C(1) << 52)
        return tamis__fail(why, TAMIS_EINVAL, "items must be 1 to 2^52");
    if (!(plan->fpr >= 1e-18 && plan->fpr < 1))
        return tamis__fail(why, TAMIS_EINVAL, "the rate must be 1e-18 or more, and less than 1");
    return TAMIS_OK;
}

tamis_status tamis_foreign_create(const tamis_foreign_plan *plan, const tamis_options *options,
                                  tamis_foreign **out, tamis_error *why)
{
    tamis_options o;
    tamis_foreign_plan p;
    if (tamis__no_out(out, why)) return TAMIS_EINVAL;
    *out = NULL;
    tamis_status s = tamis__take_struct(&p, sizeof p, plan, "tamis_foreign_plan", why);
    if (s == TAMIS_OK) s = tamis__check_options(options, 0, &o, why);
    if (s == TAMIS_OK) s = check_plan(&p, why);
    if (s != TAMIS_OK) return s;
    const struct foreign_format *format = find(p.format);
    tamis_foreign *f = tamis__foreign_new(format, &o, 1, 0, why);
    if (f == NULL) return TAMIS_ENOMEM;
    f->planned_items = p.items;
    f->fpr_planned = p.fpr;
    s = format->shape(&p, f, why);
    if (s == TAMIS_OK) s = own_bits(f, &o, f->links[0].bytes, why);
    if (s != TAMIS_OK) {
        tamis_foreign_close(f);
        return s;
    }
    struct link *l = &f->links[0];
    l->bits = l->own = f->owned;
    if (l->capacity == 0) l->capacity = UINT64_MAX;
    *out = f;
    return TAMIS_OK;
}

/* --- Keys ------------------------------------------------------------------------------------- */

tamis_status tamis_foreign_add_many(tamis_foreign *f, const tamis_bytes *keys, size_t n,
                                    uint8_t *seen_bits, size_t *done)
{
    /* Only filters made here can be changed, and they have one link. */
    struct link *l = f->links;
    tamis_status s = l->own != NULL ? TAMIS_OK : TAMIS_ESEALED;
    size_t i = 0;
    if (s == TAMIS_OK && seen_bits != NULL) memset(seen_bits, 0, n / 8 + (n % 8 != 0));
    for (; i < n && s == TAMIS_OK; i++) {
        const tamis_hash h = f->format->hash(keys[i].p, keys[i].len);
        if (f->items == l->capacity && !f->format->probe(l, NULL, h)) {
            s = TAMIS_EFULL;
            break;
        }
        const bool seen = f->format->probe(l, l->own, h);
        f->items += !seen;
        l->items += !seen;
        if (seen && seen_bits != NULL) seen_bits[i / 8] |= (uint8_t)(1u << i % 8);
    }
    if (done != NULL) *done = i;
    return s;
}

tamis_status tamis_foreign_add(tamis_foreign *f, const void *key, size_t len, bool *seen)
{
    const tamis_bytes one = {key, len};
    uint8_t bit = 0;
    const tamis_status s = tamis_foreign_add_many(f, &one, 1, &bit, NULL);
    if (s == TAMIS_OK && seen != NULL) *seen = bit != 0;
    return s;
}

static bool ask(const tamis_foreign *f, tamis_hash h)
{
    for (uint32_t i = 0; i < f->n_links; i++)
        if (f->format->probe(&f->links[i], NULL, h)) return true;
    return false;
}

/* The number of keys whose memory is being prefetched while the keys before them are queried. */
#define GROUP 32u

size_t tamis_foreign_may_contain_many(const tamis_foreign *f, const tamis_bytes *keys, size_t n,
                                      uint8_t *bits)
{
    tamis_hash hashes[GROUP];
    size_t found = 0;
    if (bits != NULL) memset(bits, 0, n / 8 + (n % 8 != 0));
    for (size_t from = 0; from < n; from += GROUP) {
        const size_t size = n - from < GROUP ? n - from : GROUP;
        for (size_t i = 0; i < size; i++) {
            hashes[i] = f->format->hash(keys[from + i].p, keys[from + i].len);
            __builtin_prefetch(f->links[0].bits + f->format->first_byte(f->links, hashes[i]));
        }
        for (size_t i = 0; i < size; i++) {
            if (!f->unnamed_hash && !ask(f, hashes[i])) continue;
            found++;
            if (bits != NULL) bits[(from + i) / 8] |= (uint8_t)(1u << (from + i) % 8);
        }
    }
    return found;
}

bool tamis_foreign_may_contain(const tamis_foreign *f, const void *key, size_t len)
{
    return f->unnamed_hash || ask(f, f->format->hash(key, len));
}

/* --- Facts ------------------------------------------------------------------------------------ */

uint32_t tamis_foreign_format_of(const tamis_foreign *f)
{
    return f->format->id;
}

bool tamis_foreign_is_certain(const tamis_foreign *f)
{
    return !f->unnamed_hash;
}

static struct census plain_census(const struct link *l)
{
    struct census c = {0, 0, 0};
    uint64_t i = 0;
    for (; i + 8 <= l->bytes; i += 8) c.ones += tamis__popcount(tamis__get64(l->bits + i));
    for (; i < l->bytes; i++) c.ones += tamis__popcount(l->bits[i]);
    const double fill = (double)c.ones / (double)l->m;
    c.rate = pow(fill, l->k);
    c.items = fill < 1 ? -(double)l->m / l->k * log1p(-fill) : (double)INFINITY;
    return c;
}

static void foreign_look(const tamis_foreign *f, tamis_foreign_facts *out)
{
    memset(out, 0, sizeof *out);
    out->format = f->format->id;
    out->links = f->n_links;
    out->items_known = f->items_known;
    out->unnamed_hash = f->unnamed_hash;
    out->items = f->items_known ? f->items : 0;
    out->planned_items = f->planned_items;
    out->fpr_planned = f->fpr_planned;
    out->extra = f->extra;
    out->extra_size = f->extra_size;
    double absent = 1; /* probability that no link matches a non-member */
    uint64_t ones = 0;
    for (uint32_t i = 0; i < f->n_links; i++) {
        const struct link *l = &f->links[i];
        const struct census c =
            f->format == &tamis__foreign_parquet ? tamis__sbbf_census(l) : plain_census(l);
        ones += c.ones;
        absent *= 1 - c.rate;
        out->items_estimate += c.items;
        out->m += l->m;
        out->bytes += l->bytes;
        out->k = l->k;
        out->strategy = l->strategy;
        out->weak |= f->format == &tamis__foreign_dcso && (l->m & (l->m - 1)) == 0;
        if (f->n_links == 1) out->fpr_now = c.rate; /* 1 - (1 - rate) would lose its last digits */
    }
    if (f->n_links > 1) out->fpr_now = 1 - absent;
    if (f->unnamed_hash) out->fpr_now = 1;
    out->fill = (double)ones / (double)out->m;
}

tamis_status tamis_foreign_info(const tamis_foreign *f, tamis_foreign_facts *out)
{
    tamis_foreign_facts facts;
    const tamis_status s = tamis__check_struct(out, "tamis_foreign_facts", NULL);
    if (s != TAMIS_OK) return s;
    foreign_look(f, &facts);
    tamis__give_struct(out, &facts, sizeof facts);
    return TAMIS_OK;
}

/* --- Writing ---------------------------------------------------------------------------------- */

tamis_status tamis_foreign_write(const tamis_foreign *f, uint32_t format, tamis_sink put, void *ctx,
                                 tamis_error *why)
{
    const struct foreign_format *to = format == TAMIS_FOREIGN_AUTO ? f->format : find(format);
    if (to == NULL) return tamis__fail(why, TAMIS_EINVAL, "there is no such foreign format");
    if (to->family != f->format->family)
        return tamis__fail(why, TAMIS_EUNSUPPORTED,
                           "its bits were set with the hash of %s, not with that of %s; build it "
                           "again from the keys",
                           f->format->name, to->name);
    /* A sink of this library writes its reason, with errno, to the same tamis_error. That reason is
     * kept. */
    if (why != NULL) why->status = TAMIS_OK;
    const tamis_status s = to->write(f, put, ctx, why);
    if (s != TAMIS_OK && why != NULL && why->status != s)
        tamis__fail(why, s, "writing the filter: %s", tamis_status_message(s));
    return s;
}

struct saving {
    const tamis_foreign *f;
    uint32_t format;
};

static tamis_status write_saving(void *what, tamis_sink put, void *ctx, tamis_error *why)
{
    const struct saving *s = what;
    return tamis_foreign_write(s->f, s->format, put, ctx, why);
}

tamis_status tamis_foreign_save(const tamis_foreign *f, uint32_t format, const char *path,
                                const tamis_save_options *options, tamis_error *why)
{
    struct saving what = {f, format};
    const struct durable d = {.write_to = write_saving, .what = &what, .memory = f->memory};
    tamis_save_options o;
    const tamis_status s = tamis__check_save_options(options, TAMIS_SAVE_NEW, &o, why);
    return s == TAMIS_OK ? tamis__write_durably(&d, path, &o, why) : s;
}
