/* sign: detached signatures of files, which 'tamis verify --pubkey' checks. */
#include "sign.h"

#include "../filters/filter.h"
#include "../frame/commands.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "../input/input.h"
#include "key.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef WITH_GUARD

size_t read_public_keys(const struct texts *files, guard_pubkey out[GUARD_SIGNERS])
{
    guard_error why;
    if (files->n > GUARD_SIGNERS) {
        complain(NULL, "--pubkey: at most %d public keys can be given", GUARD_SIGNERS);
        return 0;
    }
    for (int i = 0; i < files->n; i++) {
        if (!guard_pubkey_read(files->text[i], &out[i], &why)) {
            complain(NULL, "%s", why.text);
            return 0;
        }
        for (int j = 0; j < i; j++) {
            if (memcmp(out[i].keynum, out[j].keynum, GUARD_KEYNUM) != 0) continue;
            complain(files->text[i], "has the same key number as %s; give each key once",
                     files->text[j]);
            return 0;
        }
    }
    return (size_t)files->n;
}

/* Reads a whole file into memory, where nobody can change it; NULL after a message. */
static void *read_to_sign(const char *path, size_t *n)
{
    uint8_t *bytes = NULL;
    *n = 0;
    if (is_stdin(path)) {
        complain(NULL, "standard input has no name to which .sig could be added; name a file");
        return NULL;
    }
    struct input *in = input_open(path, true);
    if (in == NULL) {
        complain(path, "cannot open: %s", strerror(errno));
        return NULL;
    }
    struct progress bar;
    progress_wait(&bar, "reading the file");
    bool good = input_read_rest(in, &bytes, n, SIZE_MAX);
    progress_end(&bar);
    if (!good) complain(path, "cannot read: %s", input_reason(in));
    input_close(in);
    if (good && bytes == NULL) bytes = malloc(1); /* an empty file */
    if (good && bytes == NULL) good = complain(NULL, "not enough memory") != EXIT_ERROR;
    if (good) return bytes;
    free(bytes);
    return NULL;
}

/* FILE.sig, which the caller frees; NULL after a message. */
static char *signature_path(const char *path)
{
    const size_t room = strlen(path) + sizeof ".sig";
    char *out = malloc(room);
    if (out == NULL) complain(NULL, "not enough memory");
    if (out != NULL) snprintf(out, room, "%s.sig", path);
    return out;
}

static int sign_file(const struct args *a, const guard_seckey *key, const char *path)
{
    char text[GUARD_KEY_FILE];
    guard_signature signature;
    guard_error why;
    size_t n;
    void *bytes = read_to_sign(path, &n);
    char *const beside = bytes != NULL ? signature_path(path) : NULL;
    int status = EXIT_ERROR;
    if (beside != NULL && !guard_sign(key, bytes, n, &signature, &why))
        status = complain(path, "%s", why.text);
    else if (beside != NULL)
        status = save_text(beside, text, guard_signature_print(&signature, text), a->output.force);
    free(bytes);
    free(beside);
    return status;
}

int run_sign(const struct args *a)
{
    const guard_seckey *key;
    int status = EXIT_FOUND;
    if (a->sign.seckey == NULL)
        return complain(NULL, "sign: give the secret key with --seckey; 'tamis key new --sign' "
                              "makes one");
    char *const file = (char *)a->sign.seckey;
    if (read_signing_keys(&file, 1, &key) == 0) return EXIT_ERROR;
    for (int i = 0; i < a->n_words; i++)
        if (sign_file(a, key, a->words[i]) != EXIT_FOUND) status = EXIT_ERROR;
    return status;
}

void *read_signed(const struct sign_args *s, const char *path, size_t *n, const char **number)
{
    static char text[GUARD_KEYNUM_TEXT];
    guard_pubkey keys[GUARD_SIGNERS];
    guard_signature signature;
    guard_error why;
    const size_t n_keys = read_public_keys(&s->pubkeys, keys);
    void *bytes = n_keys > 0 ? read_to_sign(path, n) : NULL;
    char *const beside = bytes != NULL ? signature_path(path) : NULL;
    bool good = false;
    if (beside != NULL && !guard_signature_read(beside, &signature, &why))
        complain(path, "its signature cannot be read: %s", why.text);
    else if (beside != NULL) {
        good = guard_verify(keys, n_keys, &signature, 1, bytes, *n, &why);
        if (!good) complain(path, "%s", why.text);
    }
    free(beside);
    if (good) guard_keynum_print(signature.keynum, text);
    *number = text;
    if (good) return bytes;
    free(bytes);
    return NULL;
}

#else

void *read_signed(const struct sign_args *s, const char *path, size_t *n, const char **number)
{
    (void)s;
    (void)n;
    (void)number;
    complain(path, "this program was built without signatures (libnettle)");
    return NULL;
}

#endif
