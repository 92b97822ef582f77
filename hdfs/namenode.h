/* ClientProtocol of a file system's NameNodes, synchronous: one call at a time, failing over when a
 * NameNode is in standby or unreachable (wire/ipc/proxy.h). For single-purpose processes, such as a
 * worker of container-localizer; never for a daemon's loop. */
#ifndef SELVEDGE_HDFS_NAMENODE_H
#define SELVEDGE_HDFS_NAMENODE_H

#include <systemd/sd-event.h>

#include "common/arena.h"
#include "hdfs/answers.h"
#include "hdfs/servers.h"

struct hdfs_namenode;
struct ipc_kerberos;
struct yarn_token;

/* Kerberos tickets of the program itself, such as a user's command: an identity for the calls on
 * one loop, which names who a NameNode must be. */
struct hdfs_tickets {
    int (*open)(const struct hdfs_tickets *t, sd_event *event, struct ipc_kerberos **ret);
    void (*close)(struct ipc_kerberos *k); /* after its last call */
    const char *for_user;                  /* acts for this user; NULL: for itself */
};

/* `user`: the effective user of simple authentication. Connects on the first call. */
int hdfs_namenode_new(const struct hdfs_site *site, const char *user, struct hdfs_namenode **ret,
                      struct sv_error *err) _must_use_;
/* As above, with a delegation token (kind HDFS_DELEGATION_TOKEN), which identifies the user to the
 * NameNode, else, where the site is secure, with tickets, which outlive the client. Every NameNode
 * must accept them: there is no fallback to simple authentication. Both may be NULL; -EKEYREJECTED
 * where the site is secure. */
int hdfs_namenode_new_as(const struct hdfs_site *site, const char *user,
                         const struct yarn_token *token, const struct hdfs_tickets *tickets,
                         struct hdfs_namenode **ret, struct sv_error *err) _must_use_;
struct hdfs_namenode *hdfs_namenode_free(struct hdfs_namenode *n);
static inline void hdfs_namenode_freep(struct hdfs_namenode **n)
{
    *n = hdfs_namenode_free(*n);
}

/* Errors of all calls: -ENOENT, -EACCES (the NameNode's text), -ELOOP (a symbolic link in the
 * path), -EHOSTDOWN (all are in standby), -EKEYREJECTED (the token), -EREMOTEIO (another
 * exception), -EBADMSG, network errors. */
int hdfs_get_file_info(struct hdfs_namenode *n, const char *path, struct hdfs_status *ret,
                       struct sv_error *err) _must_use_;
/* As above, with its owner; ret_owner may be NULL. */
int hdfs_get_owned_info(struct hdfs_namenode *n, const char *path, struct hdfs_status *ret,
                        struct hdfs_owner *ret_owner, struct sv_error *err) _must_use_;
/* Lists children of a directory after the one named `after` ("" = from the start), as many as the
 * NameNode returns at once, in `a`. */
int hdfs_get_listing(struct hdfs_namenode *n, const char *path, const char *after,
                     struct sv_arena *a, struct hdfs_listing *ret, struct sv_error *err) _must_use_;
/* True if the cluster requires encrypted data transfer. */
int hdfs_get_server_defaults(struct hdfs_namenode *n, bool *ret_encrypted, struct sv_error *err)
    _must_use_;
/* Returns the blocks of [from, from + size) of a file of `length` bytes, in `a`, validated. */
int hdfs_get_block_locations(struct hdfs_namenode *n, const char *path, uint64_t from,
                             uint64_t size, uint64_t length, struct sv_arena *a,
                             const Hadoop__Hdfs__LocatedBlocksProto **ret, struct sv_error *err)
    _must_use_;
/* Reports replica `index` of the block as corrupt. */
int hdfs_report_bad_block(struct hdfs_namenode *n, const Hadoop__Hdfs__LocatedBlockProto *b,
                          size_t index, struct sv_error *err) _must_use_;

#endif
