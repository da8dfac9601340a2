/* TLS for connections, by OpenSSL. The certificate of every server is verified, and must be for
 * the host of the connection, or for the name that the address gives for all servers. There is no
 * way to switch this off.
 *
 * OpenSSL's own sockets would let a closed connection kill the process (SIGPIPE), so it gets a BIO
 * that sends without the signal. */
#include "client.h"

#include <stdio.h>

#ifndef WITH_OPENSSL

struct tls *tls_new(const struct cluster_address *a, char why[CLUSTER_WHY])
{
    (void)a;
    snprintf(why, CLUSTER_WHY,
             "this tamis was built without OpenSSL, so rediss:// addresses are not available");
    return NULL;
}

void tls_free(struct tls *t)
{
    (void)t;
}

/* Nobody has a struct tls, so none of these is called. */
struct session *tls_begin(const struct tls *t, int descriptor, const char *host,
                          char why[CLUSTER_WHY])
{
    (void)t, (void)descriptor, (void)host, (void)why;
    return NULL;
}

void tls_end(struct session *s)
{
    (void)s;
}

ssize_t tls_send(struct session *s, const struct iovec *pieces, int n, char why[CLUSTER_WHY])
{
    (void)s, (void)pieces, (void)n, (void)why;
    return -1;
}

ssize_t tls_receive(struct session *s, void *bytes, size_t room, char why[CLUSTER_WHY])
{
    (void)s, (void)bytes, (void)room, (void)why;
    return -1;
}

bool tls_is_idle(struct session *s)
{
    (void)s;
    return false;
}

#else
#include "openssl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

struct tls {
    SSL_CTX *context;
    BIO_METHOD *wire;
    char sni[CLUSTER_HOST];
    bool certified; /* there is a certificate of the client */
};

struct session {
    SSL *ssl;
    int descriptor;
    bool certified;
    bool closed; /* by the server */
    int error;   /* of the last system call that failed */
    char name[CLUSTER_HOST];
    char record[1 << 14]; /* pieces are joined, up to the longest record of TLS */
};

/* --- The wire --------------------------------------------------------------------------------- */

static int finish_call(BIO *b, struct session *s, ssize_t n, int retry)
{
    s->error = n < 0 ? errno : 0;
    BIO_clear_retry_flags(b);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        BIO_set_flags(b, retry | BIO_FLAGS_SHOULD_RETRY);
    return (int)n;
}

static int wire_write(BIO *b, const char *bytes, int n)
{
    struct session *s = BIO_get_data(b);
    ssize_t sent;
    do sent = send(s->descriptor, bytes, (size_t)n, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return finish_call(b, s, sent, BIO_FLAGS_WRITE);
}

static int wire_read(BIO *b, char *bytes, int n)
{
    struct session *s = BIO_get_data(b);
    ssize_t got;
    do got = recv(s->descriptor, bytes, (size_t)n, 0);
    while (got < 0 && errno == EINTR);
    if (got == 0) s->closed = true;
    return finish_call(b, s, got, BIO_FLAGS_READ);
}

static long wire_control(BIO *b, int command, long number, void *pointer)
{
    (void)b, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH; /* nothing is kept back */
}

static BIO_METHOD *make_wire(void)
{
    BIO_METHOD *m = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "tamis");
    if (m == NULL) return NULL;
    BIO_meth_set_write(m, wire_write);
    BIO_meth_set_read(m, wire_read);
    BIO_meth_set_ctrl(m, wire_control);
    return m;
}

/* --- Settings --------------------------------------------------------------------------------- */

/* By default OpenSSL would ask for the password of an encrypted key on the terminal. */
static int no_password(char *buffer, int size, int writing, void *ctx)
{
    (void)buffer, (void)size, (void)writing, (void)ctx;
    return -1;
}

/* Returns false with a reason. The file is opened first, because OpenSSL has many words for a file
 * that is not there. */
static bool is_readable(const char *path, char why[CLUSTER_WHY])
{
    FILE *f = fopen(path, "re");
    if (f != NULL) {
        fclose(f);
        return true;
    }
    snprintf(why, CLUSTER_WHY, "%.400s: cannot read: %s", path, strerror(errno));
    return false;
}

static bool trust(struct tls *t, const struct cluster_address *a, char why[CLUSTER_WHY])
{
    if (a->ca[0] == '\0') {
        if (SSL_CTX_set_default_verify_paths(t->context) == 1) return true;
        snprintf(why, CLUSTER_WHY, "the system's certificates cannot be loaded");
        return false;
    }
    if (!is_readable(a->ca, why)) return false;
    if (SSL_CTX_load_verify_locations(t->context, a->ca, NULL) == 1) return true;
    snprintf(why, CLUSTER_WHY, "%.400s: has no certificate in PEM format", a->ca);
    return false;
}

static bool certify(struct tls *t, const struct cluster_address *a, char why[CLUSTER_WHY])
{
    t->certified = a->cert[0] != '\0';
    if (!t->certified && a->key[0] == '\0') return true;
    if (!t->certified || a->key[0] == '\0') {
        snprintf(why, CLUSTER_WHY, "a client certificate takes both --cert and --key");
        return false;
    }
    if (!is_readable(a->cert, why) || !is_readable(a->key, why)) return false;
    if (SSL_CTX_use_certificate_chain_file(t->context, a->cert) != 1) {
        snprintf(why, CLUSTER_WHY, "%.400s: has no certificate in PEM format", a->cert);
        return false;
    }
    const bool is_key = SSL_CTX_use_PrivateKey_file(t->context, a->key, SSL_FILETYPE_PEM) == 1;
    /* A key of another algorithm than the certificate's is only found here. */
    if (is_key && SSL_CTX_check_private_key(t->context) == 1) return true;
    const unsigned long e = ERR_peek_error();
    const bool other = is_key || ERR_GET_LIB(e) == ERR_LIB_X509;
    snprintf(why, CLUSTER_WHY, "%.400s: %s", a->key,
             other ? "is not the key of the certificate"
                   : "has no private key in PEM format without a password");
    return false;
}

struct tls *tls_new(const struct cluster_address *a, char why[CLUSTER_WHY])
{
    const char *missing = openssl_load();
    if (missing != NULL) {
        snprintf(why, CLUSTER_WHY, "OpenSSL cannot be loaded: %.400s", missing);
        return NULL;
    }
    struct tls *t = calloc(1, sizeof *t);
    snprintf(why, CLUSTER_WHY, "not enough memory");
    if (t == NULL) return NULL;
    ERR_clear_error();
    t->context = SSL_CTX_new(TLS_client_method());
    t->wire = make_wire();
    snprintf(t->sni, sizeof t->sni, "%s", a->sni);
    bool good = t->context != NULL && t->wire != NULL;
    if (good) {
        SSL_CTX_set_min_proto_version(t->context, TLS1_2_VERSION);
        SSL_CTX_set_mode(t->context,
                         SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
        SSL_CTX_set_verify(t->context, SSL_VERIFY_PEER, NULL);
        SSL_CTX_set_default_passwd_cb(t->context, no_password);
        good = trust(t, a, why) && certify(t, a, why);
    }
    if (good) return t;
    tls_free(t);
    return NULL;
}

void tls_free(struct tls *t)
{
    if (t == NULL) return;
    if (t->context != NULL) SSL_CTX_free(t->context);
    if (t->wire != NULL) BIO_meth_free(t->wire);
    free(t);
}

/* --- Reasons ---------------------------------------------------------------------------------- */

static void explain_certificate(const struct session *s, char why[CLUSTER_WHY])
{
    const long result = SSL_get_verify_result(s->ssl);
    switch (result) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        snprintf(why, CLUSTER_WHY,
                 "the server's certificate is not for %s; --sni NAME names another host that it is "
                 "for",
                 s->name);
        return;
    case X509_V_ERR_CERT_HAS_EXPIRED:
        snprintf(why, CLUSTER_WHY,
                 "the server's certificate, or one that it depends on, has "
                 "expired");
        return;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        snprintf(why, CLUSTER_WHY,
                 "the server's certificate is not trusted (%s); --cacert FILE names the "
                 "certificate of the authority that signed it",
                 X509_verify_cert_error_string(result));
        return;
    default:
        snprintf(why, CLUSTER_WHY, "the server's certificate is not valid: %s",
                 X509_verify_cert_error_string(result));
    }
}

static void explain_library(const struct session *s, unsigned long e, char why[CLUSTER_WHY])
{
    const char *text = ERR_reason_error_string(e);
    switch (ERR_GET_LIB(e) == ERR_LIB_SSL ? ERR_GET_REASON(e) : 0) {
    case SSL_R_CERTIFICATE_VERIFY_FAILED: explain_certificate(s, why); return;
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
        snprintf(why, CLUSTER_WHY,
                 "the server does not speak TLS at this port; its other port may, or write "
                 "redis:// instead of rediss://");
        return;
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
        if (!s->certified) {
            snprintf(why, CLUSTER_WHY,
                     "the server requires a client certificate: name it with --cert and --key "
                     "(%s)",
                     text);
            return;
        }
        break;
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_TLSV1_ALERT_DECRYPT_ERROR:
        snprintf(why, CLUSTER_WHY, "the server refuses the client certificate of --cert (%s)",
                 text);
        return;
    default: break;
    }
    snprintf(why, CLUSTER_WHY, "TLS: %s", text != NULL ? text : "unknown error");
}

/* Returns 0 if a call would have to wait, and otherwise -1 with a reason. */
static ssize_t explain(const struct session *s, int result, char why[CLUSTER_WHY])
{
    const int kind = SSL_get_error(s->ssl, result);
    const unsigned long e = ERR_peek_error();
    if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE) return 0;
    if (s->closed || kind == SSL_ERROR_ZERO_RETURN)
        snprintf(why, CLUSTER_WHY, "the server closed the connection");
    else if (kind == SSL_ERROR_SSL && e != 0)
        explain_library(s, e, why);
    else
        snprintf(why, CLUSTER_WHY, "%s", s->error != 0 ? strerror(s->error) : "TLS has failed");
    return -1;
}

/* --- Sessions --------------------------------------------------------------------------------- */

/* A certificate names hosts and IP addresses separately, and only hosts may be sent as SNI. OpenSSL
 * takes no name for any name, and one with a dot before it for every host below that. */
static bool expect_host(SSL *ssl, const char *name, char why[CLUSTER_WHY])
{
    unsigned char address[16];
    X509_VERIFY_PARAM *param = SSL_get0_param(ssl);
    if (name[0] == '\0' || name[0] == '.') {
        snprintf(why, CLUSTER_WHY, "'%s' is not the name of a host, as TLS requires", name);
        return false;
    }
    if (inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(param, name) == 1;
    X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(ssl, name) == 1 && SSL_set_tlsext_host_name(ssl, name) == 1;
}

static bool shake_hands(struct session *s, char why[CLUSTER_WHY])
{
    ERR_clear_error();
    const int done = SSL_connect(s->ssl);
    if (done == 1) return true;
    if (explain(s, done, why) == 0)
        snprintf(why, CLUSTER_WHY,
                 "no answer to the start of TLS; if the server does not speak TLS at this port, "
                 "write redis:// instead of rediss://");
    else if (s->closed)
        snprintf(why, CLUSTER_WHY,
                 "the server closed the connection at the start of TLS; it may not speak TLS at "
                 "this port");
    return false;
}

struct session *tls_begin(const struct tls *t, int descriptor, const char *host,
                          char why[CLUSTER_WHY])
{
    struct session *s = calloc(1, sizeof *s);
    snprintf(why, CLUSTER_WHY, "not enough memory");
    if (s == NULL) return NULL;
    s->descriptor = descriptor;
    s->certified = t->certified;
    snprintf(s->name, sizeof s->name, "%s", t->sni[0] != '\0' ? t->sni : host);
    s->ssl = SSL_new(t->context);
    BIO *wire = s->ssl != NULL ? BIO_new(t->wire) : NULL;
    if (wire != NULL) {
        BIO_set_data(wire, s);
        BIO_set_init(wire, 1);
        SSL_set_bio(s->ssl, wire, wire); /* which frees it with the rest */
        if (expect_host(s->ssl, s->name, why) && shake_hands(s, why)) return s;
    }
    tls_end(s);
    return NULL;
}

void tls_end(struct session *s)
{
    if (s == NULL) return;
    if (s->ssl != NULL) SSL_free(s->ssl);
    free(s);
}

/* Joins the pieces without their first `skip` bytes, as far as they fit. Returns how many bytes. */
static size_t join_pieces(const struct iovec *pieces, int n, size_t skip, char *to, size_t room)
{
    size_t used = 0;
    for (int i = 0; i < n && used < room; i++) {
        const size_t from = skip < pieces[i].iov_len ? skip : pieces[i].iov_len;
        const size_t rest = pieces[i].iov_len - from;
        const size_t some = rest < room - used ? rest : room - used;
        if (some > 0) memcpy(to + used, (const char *)pieces[i].iov_base + from, some);
        used += some;
        skip -= from;
    }
    return used;
}

/* When a record could not be sent, OpenSSL expects the same bytes again, and perhaps more. The
 * caller sends its queue in order, so that they come again. */
ssize_t tls_send(struct session *s, const struct iovec *pieces, int n, char why[CLUSTER_WHY])
{
    size_t sent = 0, used;
    while ((used = join_pieces(pieces, n, sent, s->record, sizeof s->record)) > 0) {
        ERR_clear_error();
        const int done = SSL_write(s->ssl, s->record, (int)used);
        if (done <= 0) return explain(s, done, why) < 0 ? -1 : (ssize_t)sent;
        sent += (size_t)done;
    }
    return (ssize_t)sent;
}

ssize_t tls_receive(struct session *s, void *bytes, size_t room, char why[CLUSTER_WHY])
{
    ERR_clear_error();
    const int got = SSL_read(s->ssl, bytes, (int)room);
    return got > 0 ? got : explain(s, got, why);
}

/* Messages of TLS itself, such as tickets for later sessions, may arrive at any time; reading takes
 * them. */
bool tls_is_idle(struct session *s)
{
    char byte, why[CLUSTER_WHY];
    ERR_clear_error();
    const int got = SSL_peek(s->ssl, &byte, 1);
    return got <= 0 && explain(s, got, why) == 0;
}
#endif
