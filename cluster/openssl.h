/* OpenSSL, loaded when the first rediss:// address is used. Linked as usual it would take 1.9 MB of
 * memory in every command, although few need it (docs/DESIGN.md). Macros below let the code call
 * the functions by their usual names; what OpenSSL's headers define by macros ends in these
 * functions as well. */
#ifndef TAMIS_CLUSTER_OPENSSL_H
#define TAMIS_CLUSTER_OPENSSL_H

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#define OPENSSL_FUNCTIONS(EACH)                                                                    \
    EACH(BIO_clear_flags)                                                                          \
    EACH(BIO_get_data)                                                                             \
    EACH(BIO_meth_free)                                                                            \
    EACH(BIO_meth_new)                                                                             \
    EACH(BIO_meth_set_ctrl)                                                                        \
    EACH(BIO_meth_set_read)                                                                        \
    EACH(BIO_meth_set_write)                                                                       \
    EACH(BIO_new)                                                                                  \
    EACH(BIO_set_data)                                                                             \
    EACH(BIO_set_flags)                                                                            \
    EACH(BIO_set_init)                                                                             \
    EACH(ERR_clear_error)                                                                          \
    EACH(ERR_peek_error)                                                                           \
    EACH(ERR_reason_error_string)                                                                  \
    EACH(SSL_CTX_check_private_key)                                                                \
    EACH(SSL_CTX_ctrl)                                                                             \
    EACH(SSL_CTX_free)                                                                             \
    EACH(SSL_CTX_load_verify_locations)                                                            \
    EACH(SSL_CTX_new)                                                                              \
    EACH(SSL_CTX_set_default_passwd_cb)                                                            \
    EACH(SSL_CTX_set_default_verify_paths)                                                         \
    EACH(SSL_CTX_set_verify)                                                                       \
    EACH(SSL_CTX_use_PrivateKey_file)                                                              \
    EACH(SSL_CTX_use_certificate_chain_file)                                                       \
    EACH(SSL_connect)                                                                              \
    EACH(SSL_ctrl)                                                                                 \
    EACH(SSL_free)                                                                                 \
    EACH(SSL_get0_param)                                                                           \
    EACH(SSL_get_error)                                                                            \
    EACH(SSL_get_verify_result)                                                                    \
    EACH(SSL_new)                                                                                  \
    EACH(SSL_peek)                                                                                 \
    EACH(SSL_read)                                                                                 \
    EACH(SSL_set1_host)                                                                            \
    EACH(SSL_set_bio)                                                                              \
    EACH(SSL_write)                                                                                \
    EACH(TLS_client_method)                                                                        \
    EACH(X509_VERIFY_PARAM_set1_ip_asc)                                                            \
    EACH(X509_VERIFY_PARAM_set_hostflags)                                                          \
    EACH(X509_verify_cert_error_string)

#define OPENSSL_MEMBER(name) __typeof__(&(name)) name##_;
struct openssl {
    OPENSSL_FUNCTIONS(OPENSSL_MEMBER)
};
extern struct openssl openssl;

/* Loads the library. Returns NULL on success, otherwise the reason for the failure. */
const char *openssl_load(void);

#ifndef OPENSSL_NAMES_ONLY
#define BIO_clear_flags openssl.BIO_clear_flags_
#define BIO_get_data openssl.BIO_get_data_
#define BIO_meth_free openssl.BIO_meth_free_
#define BIO_meth_new openssl.BIO_meth_new_
#define BIO_meth_set_ctrl openssl.BIO_meth_set_ctrl_
#define BIO_meth_set_read openssl.BIO_meth_set_read_
#define BIO_meth_set_write openssl.BIO_meth_set_write_
#define BIO_new openssl.BIO_new_
#define BIO_set_data openssl.BIO_set_data_
#define BIO_set_flags openssl.BIO_set_flags_
#define BIO_set_init openssl.BIO_set_init_
#define ERR_clear_error openssl.ERR_clear_error_
#define ERR_peek_error openssl.ERR_peek_error_
#define ERR_reason_error_string openssl.ERR_reason_error_string_
#define SSL_CTX_check_private_key openssl.SSL_CTX_check_private_key_
#define SSL_CTX_ctrl openssl.SSL_CTX_ctrl_
#define SSL_CTX_free openssl.SSL_CTX_free_
#define SSL_CTX_load_verify_locations openssl.SSL_CTX_load_verify_locations_
#define SSL_CTX_new openssl.SSL_CTX_new_
#define SSL_CTX_set_default_passwd_cb openssl.SSL_CTX_set_default_passwd_cb_
#define SSL_CTX_set_default_verify_paths openssl.SSL_CTX_set_default_verify_paths_
#define SSL_CTX_set_verify openssl.SSL_CTX_set_verify_
#define SSL_CTX_use_PrivateKey_file openssl.SSL_CTX_use_PrivateKey_file_
#define SSL_CTX_use_certificate_chain_file openssl.SSL_CTX_use_certificate_chain_file_
#define SSL_connect openssl.SSL_connect_
#define SSL_ctrl openssl.SSL_ctrl_
#define SSL_free openssl.SSL_free_
#define SSL_get0_param openssl.SSL_get0_param_
#define SSL_get_error openssl.SSL_get_error_
#define SSL_get_verify_result openssl.SSL_get_verify_result_
#define SSL_new openssl.SSL_new_
#define SSL_peek openssl.SSL_peek_
#define SSL_read openssl.SSL_read_
#define SSL_set1_host openssl.SSL_set1_host_
#define SSL_set_bio openssl.SSL_set_bio_
#define SSL_write openssl.SSL_write_
#define TLS_client_method openssl.TLS_client_method_
#define X509_VERIFY_PARAM_set1_ip_asc openssl.X509_VERIFY_PARAM_set1_ip_asc_
#define X509_VERIFY_PARAM_set_hostflags openssl.X509_VERIFY_PARAM_set_hostflags_
#define X509_verify_cert_error_string openssl.X509_verify_cert_error_string_
#endif

#endif
