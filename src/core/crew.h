/* Bulk calls with several threads (tamis_options.threads). */
#ifndef TAMIS_CREW_H
#define TAMIS_CREW_H

#include "bulk.h"

/* A thread takes 20 microseconds to start, which is the time of some 5,000 keys. */
#define TAMIS__CREW_FROM 65536u

#ifdef TAMIS__WATCHES
/* Adds all keys. seen may be NULL. Returns false, and has done nothing, if one thread should do it:
 * few keys, one thread, a kind that threads cannot share, or no memory. */
bool tamis__crew_add(tamis *t, const struct keys *in, uint8_t *seen);

/* Whether queries of these keys are worth several threads, and their answers: as
 * tamis__bulk_query. */
bool tamis__crew_pays(const tamis *t, const struct keys *in);
size_t tamis__crew_query(const tamis *t, const struct keys *in, uint8_t *bits);
#else /* the modules of web/ have one thread */
#define tamis__crew_add(t, in, seen) false
#define tamis__crew_pays(t, in) ((void)(in), false)
#define tamis__crew_query(t, in, bits) 0u
#endif

#endif
