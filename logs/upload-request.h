/* The NodeManager's request to log-uploader, and the answer.
 *
 * The request is a sealed memfd, sent with one byte over the channel (executor/request.h). Two
 * descriptors may follow: a sealed memfd with the application's tokens of file systems ("HDTS…",
 * fs/tokens.h), and, for a remote directory of this machine, that directory. Then the NodeManager
 * waits for one answer. The request consists of fields: a tag (1 byte), a length (4 bytes) and
 * bytes. The NodeManager is trusted; log-uploader runs as the job's account, so its answer is
 * hostile. */
#ifndef SELVEDGE_LOGS_UPLOAD_REQUEST_H
#define SELVEDGE_LOGS_UPLOAD_REQUEST_H

#include "common/buf.h"
#include "logs/bcfile.h"

#define LOGS_UPLOAD_MAX (32u << 20) /* bytes of a request */
#define LOGS_CONTAINERS_MAX 500000u
#define LOGS_UPLOAD_ACLS_MAX 8
#define LOGS_UPLOAD_TEXT_MAX                                                                       \
    400 /* of an answer, which is copied to the ResourceManager's diagnostics */

/* Texts; "" if not given. */
enum logs_field {
    LOGS_REMOTE = 1, /* remote root: a path on HDFS, or text for messages */
    LOGS_SERVERS, /* NameNodes (hdfs_servers_text); "": the root is a directory of this machine */
    LOGS_USER,    /* submitter: the directory below the root, and HDFS's user */
    LOGS_SUFFIX,  /* directory below: "bucket-logs-tfile" */
    LOGS_GROUP,   /* of directories; "": the account's own */
    LOGS_APP,     /* application_… */
    LOGS_BUCKET,  /* "0042"; "" with the older layout */
    LOGS_FILE,    /* name of the file: node and port */
    LOGS_INCLUDE, /* pattern of files' names; "": all */
    LOGS_EXCLUDE, /* "": none */
    LOGS_SAMPLE,  /* parameters of the aggregation policy, kept here by the NodeManager */
    LOGS_TIME,    /* milliseconds: the file's name ends in "_TIME"; "": no suffix */
    LOGS_ROLLED_INCLUDE, /* "": the application's logs are not rolled */
    LOGS_ROLLED_EXCLUDE,
    LOGS_WEB, /* WebHDFS: "http://host:port"; "": not used */
    LOGS_FIELDS,
    /* Further tags. */
    LOGS_TAG_CODEC = 64, /* 1 byte */
    LOGS_TAG_TIMEOUT,    /* 4 bytes: milliseconds */
    LOGS_TAG_HOSTNAMES,  /* 1 byte: dfs.client.use.datanode.hostname */
    LOGS_TAG_RIGHT,      /* name of a right, then LOGS_TAG_LIST */
    LOGS_TAG_LIST,
    LOGS_TAG_CONTAINER,     /* id of a container to write, in order; none: all that are found */
    LOGS_TAG_SKIP,          /* id of a container to skip */
    LOGS_TAG_ENDED,         /* id of a container to write that has ended; with APP_RUNS */
    LOGS_TAG_APP_RUNS,      /* 1 byte: upload rolled logs and record them (uploaded-list.h) */
    LOGS_TAG_DELETE,        /* 1 byte: delete them after the upload */
    LOGS_TAG_RATE,          /* 8 bytes: bytes per second (upload-pace.h) */
    LOGS_TAG_FILES_MAX,     /* 4 bytes: limit of this node's rolled files in the remote directory */
    LOGS_TAG_OLDER_LAYOUT,  /* 1 byte: no bucket directory (Hadoop before 3.3) */
    LOGS_TAG_OTHERS_BEFORE, /* 8 bytes: milliseconds. Also write other containers whose directories
                             * are unchanged since then: they have ended */
    LOGS_TAG_PROTECTION,    /* 4 bytes: hdfs_site_protection() */
    LOGS_TAG_CREDENTIALS,   /* 1 byte: a descriptor of credentials follows the request */
};

struct logs_upload {
    char *text[LOGS_FIELDS]; /* indexed by enum logs_field, points into `bytes`; never NULL */
    enum logs_codec codec;
    uint32_t io_timeout_ms, protection;
    bool use_hostname;
    struct {
        char *right, *list;
    } acls[LOGS_UPLOAD_ACLS_MAX];
    size_t n_acls;
    struct logs_ids {
        char **v;
        size_t n;
    } containers, skips, ended; /* ended: sorted; so is containers if others_before_ms is set */
    bool app_runs, delete_uploaded, older_layout, has_credentials;
    uint32_t files_max;
    uint64_t rate, others_before_ms;
    uint8_t *bytes; /* owned */
};

/* Appends a field; for the NodeManager. */
int logs_upload_put(struct sv_buf *b, int tag, const void *p, size_t n) _must_use_;
int logs_upload_put_text(struct sv_buf *b, int tag, const char *s) _must_use_;
int logs_upload_put_u32(struct sv_buf *b, int tag, uint32_t v) _must_use_;
int logs_upload_put_u64(struct sv_buf *b, int tag, uint64_t v) _must_use_;

/* Parses a request and takes ownership of `bytes`. -EBADMSG. */
int logs_upload_parse(uint8_t *bytes, size_t n, struct logs_upload *ret) _must_use_;
void logs_upload_clear(struct logs_upload *u);

enum logs_outcome { LOGS_DONE = 0, LOGS_NOTHING, LOGS_FAILED, LOGS_REFUSED };

/* LOGS_FAILED: worth a retry; LOGS_REFUSED: not. The text names what was skipped, or why it
 * failed. */
struct logs_answer {
    uint32_t outcome; /* enum logs_outcome */
    uint32_t files, skipped;
    uint64_t bytes;                      /* bytes of logs uploaded */
    char text[LOGS_UPLOAD_TEXT_MAX + 4]; /* zero-padded */
};
/* Parses a datagram of n bytes and makes its text printable. -EBADMSG. */
int logs_answer_parse(const void *p, size_t n, struct logs_answer *ret) _must_use_;

#endif
