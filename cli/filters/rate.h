/* Whether the false-positive rate of a filter exceeds its plan, and what commands do then
 * (rate.c).
 *
 * `asked` is the rate that the filter was requested with, or 0 where that is not known. */
#ifndef TAMIS_CLI_RATE_H
#define TAMIS_CLI_RATE_H

#include "../frame/args.h"

#include <tamis/inspect.h>
#include <tamis/tamis.h>

/* A filter whose rate is above this many times the planned one is not written unless --overfill is
 * given, and uniq fails. */
#define MUCH_TOO_WRONG 2

/* Whether a filter may have been made for this rate. */
bool rate_may_be(const tamis_facts *f, double asked);
/* The rate that the filter was made for: `asked`, or an estimate from its shape when that is 0;
 * `usual` is what most are made for. */
double rate_asked(const tamis_facts *f, double asked, double usual);
/* The facts do not name the inner kind, the compact layout and the plan for transfer, nor whether k
 * was chosen by the plan. Finds a plan of bloom, partitioned, blocked or counting that leads to the
 * shape of the filter, and gives *p these fields of it. False: there is none. */
bool find_layout(const tamis_facts *f, tamis_plan *p);
/* Whether the filter holds more than was planned and its rate is clearly above the one asked
 * for. */
bool rate_is_exceeded(const tamis_facts *f, double asked);
/* Prints the warning that the rate is exceeded, */
void warn_of_rate(const tamis_facts *f, const char *path);
/* or that the hashes are not uniform, if they are not. */
void warn_of_hashes(const tamis_facts *f, const char *path);
/* Prints whichever of the two applies. */
void warn_if_overfull(const tamis_facts *f, const char *path);
/* False, after a message that begins with `fate`, when the rate is above MUCH_TOO_WRONG times the
 * one asked for and --overfill was not given. fate NULL: the set at a server has changed
 * already. */
bool check_not_overfull(const struct args *a, const tamis_facts *f, const char *path,
                        const char *fate, double asked);
/* Saves a filter with these facts (NULL: they are not known) unless it is refused as above, and
 * then prints warnings. `fate` names what happens to the file if it is refused: "unchanged", "not
 * written". Returns EXIT_FOUND or EXIT_ERROR. */
int save_unless_overfull(const struct args *a, tamis *t, const tamis_facts *f, const char *path,
                         const char *fate, bool replace, double asked);

#endif
