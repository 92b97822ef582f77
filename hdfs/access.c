/* See access.h. */
#include "hdfs/access.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "hdfs/data-key.h"
#include "hdfs/transfer-sasl.h"
#include "wire/sasl/qop.h"

#define PRIVILEGED_PORT 1024 /* below: only root listens there, and Hadoop's client trusts it */

enum hdfs_handshake hdfs_handshake_choose(const struct hdfs_site *site, bool encrypted,
                                          uint32_t port)
{
    if (encrypted)
        return HDFS_HANDSHAKE_DATA_KEY;
    if (!site->secure || port < PRIVILEGED_PORT || !site->transfer_qop)
        return HDFS_HANDSHAKE_NONE;
    return HDFS_HANDSHAKE_TOKEN;
}

static int by_data_key(struct hdfs_connection *c, const struct hdfs_site *site,
                       const struct hdfs_data_key *key, struct sv_error *err)
{
    const struct hdfs_transfer_login login = { .user = key->user,
                                               .password = key->password,
                                               .qop_mask = IPC_QOP_PRIVACY,
                                               .aes = site->aes,
                                               .key = "dfs.encrypt.data.transfer" };

    return hdfs_transfer_handshake(c, &login, err);
}

static int by_token(struct hdfs_connection *c, const struct hdfs_site *site,
                    const Hadoop__Common__TokenProto *token, struct sv_error *err)
{
    _cleanup_free_ char *user = NULL, *password = NULL;
    struct hdfs_transfer_login login = { .qop_mask = site->transfer_qop,
                                         .aes = site->aes,
                                         .key = "dfs.data.transfer.protection" };
    int r = sv_base64_encode(token->identifier.data, token->identifier.len, &user);

    if (r >= 0)
        r = sv_base64_encode(token->password.data, token->password.len, &password);
    if (r < 0)
        return sv_error_errno(err, r, "block token");
    login.user = user;
    login.password = password;
    r = hdfs_transfer_handshake(c, &login, err);
    explicit_bzero(password, strlen(password));
    return r;
}

static int connect_once(const struct hdfs_access *a, const Hadoop__Hdfs__DatanodeIDProto *id,
                        const Hadoop__Common__TokenProto *token, struct hdfs_connection **ret,
                        struct sv_error *err)
{
    _cleanup_(hdfs_connection_freep) struct hdfs_connection *c = NULL;
    const struct hdfs_data_key *key = NULL;
    int r = a->namenode ? hdfs_data_key(a->namenode, &key, err) : 0;

    if (r == 0)
        r = hdfs_connection_open(id, a->site->io_timeout_ms, a->site->use_hostname, &c, err);
    if (r < 0)
        return r;
    switch (hdfs_handshake_choose(a->site, key != NULL, id->xferport)) {
    case HDFS_HANDSHAKE_NONE:
        break;
    case HDFS_HANDSHAKE_DATA_KEY:
        r = by_data_key(c, a->site, key, err);
        break;
    case HDFS_HANDSHAKE_TOKEN:
        r = by_token(c, a->site, token, err);
        break;
    }
    if (r == 0)
        *ret = SV_TAKE(c);
    return r;
}

int hdfs_access_connect(const struct hdfs_access *a, const Hadoop__Hdfs__DatanodeIDProto *id,
                        const Hadoop__Common__TokenProto *token, struct hdfs_connection **ret,
                        struct sv_error *err)
{
    int r = connect_once(a, id, token, ret, err);

    if (r != -EKEYREVOKED || !a->namenode)
        return r;
    /* The DataNodes have newer keys: once more with one of them. */
    hdfs_data_key_forget(a->namenode);
    return connect_once(a, id, token, ret, err);
}
