/* Hadoop tokens: the Writable Token, YARN's identifiers, passwords, master keys, credentials.
 *
 * Hadoop 2.6 and later write YARN's identifiers as raw protobuf, earlier ones as Writables, which
 * 3.x still reads; readers here accept both (Writables begin with a zero byte, which no protobuf
 * message does), writers emit protobuf. HDFS's delegation token is a Writable in every version. A
 * password is the HMAC of the identifier bytes *as received* under a master key; never re-serialise
 * before verifying. Comparison takes constant time. */
#ifndef SELVEDGE_WIRE_TOKEN_TOKEN_H
#define SELVEDGE_WIRE_TOKEN_TOKEN_H

#include "common/arena.h"
#include "common/base.h"
#include "common/buf.h"
#include "common/error.h"
#include "wire/ids.h"

#define YARN_KIND_CONTAINER "ContainerToken"
#define YARN_KIND_NM "NMToken"
#define YARN_KIND_AMRM "YARN_AM_RM_TOKEN"
#define YARN_KIND_CLIENT_AM "YARN_CLIENT_TOKEN"
#define YARN_KIND_RM_DELEGATION "RM_DELEGATION_TOKEN"
#define YARN_KIND_TIMELINE_DELEGATION "TIMELINE_DELEGATION_TOKEN"
#define YARN_KIND_HDFS_DELEGATION "HDFS_DELEGATION_TOKEN"
#define YARN_KIND_LOCALIZER "Localizer"
#define YARN_TOKEN_PASSWORD_MAX 64 /* HmacSHA512 */
#define YARN_MASTER_KEY_MAX 64
#define YARN_MASTER_KEY_STRONG 16 /* bytes; a shorter key can be found by brute force */
#define YARN_TOKEN_ID_MAX (64 * 1024)
#define YARN_CREDENTIALS_MAX (1024 * 1024)

struct yarn_token { /* shape of Token: all byte strings; memory is owned by its creator */
    const uint8_t *id;
    size_t id_len;
    const uint8_t *password;
    size_t password_len;
    const char *kind;    /* NUL-terminated */
    const char *service; /* "ip:port" or "" */
};

struct yarn_master_key {
    int32_t key_id;
    uint8_t bytes[YARN_MASTER_KEY_MAX];
    size_t len; /* 8 by Hadoop's default */
};

/* hadoop.security.secret-manager.key-generator.algorithm: HmacSHA1 (default), HmacSHA224, 256, 384,
 * 512. */
enum yarn_hmac {
    YARN_HMAC_SHA1,
    YARN_HMAC_SHA224,
    YARN_HMAC_SHA256,
    YARN_HMAC_SHA384,
    YARN_HMAC_SHA512
};
int yarn_hmac_parse(const char *name, enum yarn_hmac *ret) _must_use_;

/* True if the holder of a token could find the key by brute force: Hadoop's default of 64 bits up
 * to 3.5. Such a key is accepted, with a warning by its owner. */
static inline bool yarn_master_key_weak(const struct yarn_master_key *k)
{
    return k->len < YARN_MASTER_KEY_STRONG;
}

/* `len` random bytes from getrandom() (Hadoop's default 8; Selvedge's own keys: 32). */
int yarn_master_key_generate(int32_t key_id, size_t len, struct yarn_master_key *ret) _must_use_;
int yarn_token_password(enum yarn_hmac alg, const struct yarn_master_key *key, const uint8_t *id,
                        size_t id_len, uint8_t ret[YARN_TOKEN_PASSWORD_MAX], size_t *ret_len)
    _must_use_;
bool yarn_bytes_equal(const void *a, size_t an, const void *b, size_t bn); /* constant time */

#define YARN_LOG_PATTERN_MAX 480
#define YARN_TOKEN_TAGS_MAX 64     /* allocation tags */
#define YARN_TOKEN_TAGS_BYTES 4096 /* of all of them, each with its NUL */

struct yarn_container_token { /* ContainerTokenIdentifier */
    struct yarn_container_id container;
    char nm_addr[264]; /* "host:port" of the NodeManager's RPC */
    char submitter[256];
    struct yarn_resource resource;
    int64_t expiry_ms; /* wall clock */
    int32_t key_id;
    int64_t rm_identifier;
    int32_t priority;
    int64_t creation_ms;
    int32_t container_type; /* 1 APPLICATION_MASTER, 2 TASK */
    int32_t execution_type; /* 1 GUARANTEED, 2 OPPORTUNISTIC */
    int32_t version;
    int64_t allocation_request_id;
    char node_label[256];
    /* LogAggregationContext, set by decode: "" = absent. */
    char log_include[YARN_LOG_PATTERN_MAX + 1], log_exclude[YARN_LOG_PATTERN_MAX + 1];
    char log_rolled_include[YARN_LOG_PATTERN_MAX + 1]; /* "": no upload while it runs */
    char log_rolled_exclude[YARN_LOG_PATTERN_MAX + 1];
    char log_policy[256], log_policy_parameters[128];
    bool log_too_long; /* one of them was too long and was dropped */
    /* Allocation tags, one after the other, each with its NUL; none if they are too many. */
    size_t n_tags;
    char tags[YARN_TOKEN_TAGS_BYTES];
    /* Set by decode: a requested resource type that struct yarn_resource lacks, escaped for
     * messages; "" = none. */
    char unknown_resource[64];
};
/* The tags as a list in the arena that ends with NULL; NULL without memory. */
char **yarn_container_token_tags(struct sv_arena *a, const struct yarn_container_token *t);
int yarn_container_token_decode(const uint8_t *id, size_t len, struct yarn_container_token *ret,
                                struct sv_error *err) _must_use_;
/* Returns identifier bytes in the arena. */
int yarn_container_token_encode(struct sv_arena *a, const struct yarn_container_token *t,
                                const uint8_t **ret, size_t *ret_len) _must_use_;

struct yarn_nm_token {
    struct yarn_attempt_id attempt;
    struct yarn_node_id node;
    char submitter[256];
    int32_t key_id;
};
int yarn_nm_token_decode(const uint8_t *id, size_t len, struct yarn_nm_token *ret,
                         struct sv_error *err) _must_use_;
int yarn_nm_token_encode(struct sv_arena *a, const struct yarn_nm_token *t, const uint8_t **ret,
                         size_t *ret_len) _must_use_;

struct yarn_amrm_token {
    struct yarn_attempt_id attempt;
    int32_t key_id;
};
int yarn_amrm_token_decode(const uint8_t *id, size_t len, struct yarn_amrm_token *ret,
                           struct sv_error *err) _must_use_;
int yarn_amrm_token_encode(struct sv_arena *a, const struct yarn_amrm_token *t, const uint8_t **ret,
                           size_t *ret_len) _must_use_;

struct yarn_client_am_token { /* authenticates a client to its ApplicationMaster */
    struct yarn_attempt_id attempt;
    char client[256];
};
int yarn_client_am_token_decode(const uint8_t *id, size_t len, struct yarn_client_am_token *ret,
                                struct sv_error *err) _must_use_;
int yarn_client_am_token_encode(struct sv_arena *a, const struct yarn_client_am_token *t,
                                const uint8_t **ret, size_t *ret_len) _must_use_;

/* RM_DELEGATION_TOKEN, TIMELINE_DELEGATION_TOKEN (protobuf) and HDFS_DELEGATION_TOKEN
 * (Writable). */
struct yarn_delegation_token {
    char owner[256];
    char renewer[256];
    char real_user[256]; /* user acting for the owner, or "" */
    int64_t issue_ms;
    int64_t max_ms;
    int32_t sequence;
    int32_t key_id;
};
int yarn_delegation_token_decode(const uint8_t *id, size_t len, struct yarn_delegation_token *ret,
                                 struct sv_error *err) _must_use_;
int yarn_delegation_token_encode(struct sv_arena *a, const struct yarn_delegation_token *t,
                                 const uint8_t **ret, size_t *ret_len) _must_use_;
int yarn_delegation_token_encode_writable(struct sv_arena *a, const struct yarn_delegation_token *t,
                                          const uint8_t **ret, size_t *ret_len) _must_use_;

/* Text form of a whole token (Token.encodeToUrlString): URL-safe base64 of its Writable form,
 * without padding. In the arena. */
int yarn_token_text(struct sv_arena *a, const struct yarn_token *t, const char **ret) _must_use_;
int yarn_token_parse(struct sv_arena *a, const char *text, struct yarn_token *ret) _must_use_;

/* Wire message TokenProto ⇄ struct (memory of the message / arena). */
typedef struct Hadoop__Common__TokenProto Hadoop__Common__TokenProto;
int yarn_token_from(const Hadoop__Common__TokenProto *m, struct sv_arena *a, struct yarn_token *ret)
    _must_use_;
Hadoop__Common__TokenProto *yarn_token_to(struct sv_arena *a, const struct yarn_token *t);

/* Credentials: "HDTS" + version 0 (Writable) or 1 (protobuf); also the format of CLC.tokens. */
struct yarn_credentials {
    struct {
        const char *alias;
        struct yarn_token token;
    } * tokens;
    size_t n_tokens;
    struct {
        const char *alias;
        const uint8_t *secret;
        size_t len;
    } * secrets;
    size_t n_secrets;
};
/* Copies everything into the arena. Empty input is empty credentials. */
int yarn_credentials_parse(const uint8_t *p, size_t n, struct sv_arena *a,
                           struct yarn_credentials *ret, struct sv_error *err) _must_use_;
/* Every Hadoop reads version 0 and 2.x writes it; 3.x may also write version 1. */
enum yarn_credentials_format { YARN_CREDENTIALS_WRITABLE = 0, YARN_CREDENTIALS_PROTOBUF = 1 };
/* Both append, all or nothing. */
int yarn_credentials_write_as(const struct yarn_credentials *c, enum yarn_credentials_format format,
                              struct sv_buf *out) _must_use_;
int yarn_credentials_write(const struct yarn_credentials *c, struct sv_buf *out)
    _must_use_; /* version 0 */
/* Copies into the arena with one more token (replaces the same alias). */
int yarn_credentials_add(struct sv_arena *a, struct yarn_credentials *c, const char *alias,
                         const struct yarn_token *t) _must_use_;
int yarn_credentials_add_secret(struct sv_arena *a, struct yarn_credentials *c, const char *alias,
                                const void *secret, size_t len) _must_use_;

#endif
