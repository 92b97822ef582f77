/* What the NodeManager tells log-uploader, and its answer.
 *
 * The request is a sealed memfd, sent with one byte over the channel (executor/request.h), and
 * behind it, for a remote directory of this machine, that directory; then the NodeManager waits for
 * one answer. Request: fields of a tag (1 byte), a length (4 bytes) and bytes. The NodeManager is
 * trusted; log-uploader runs as the job's account, so its answer is hostile. */
#ifndef SELVEDGE_LOGS_UPLOAD_REQUEST_H
#define SELVEDGE_LOGS_UPLOAD_REQUEST_H

#include "common/buf.h"
#include "logs/bcfile.h"

#define LOGS_UPLOAD_MAX (32u << 20) /* bytes of a request */
#define LOGS_CONTAINERS_MAX 500000u
#define LOGS_UPLOAD_ACLS_MAX 8
#define LOGS_UPLOAD_TEXT_MAX                                                                       \
    400 /* of an answer: it goes into the ResourceManager's diagnostics                            \
         */

/* Texts; "" where there is none. */
enum logs_field {
    LOGS_REMOTE = 1, /* remote root: a path of HDFS, or shown in messages */
    LOGS_SERVERS, /* NameNodes (hdfs_servers_text); "": the root is a directory of this machine */
    LOGS_USER,    /* submitter: the directory below the root, and HDFS's user */
    LOGS_SUFFIX,  /* directory below: "bucket-logs-tfile" */
    LOGS_GROUP,   /* of directories; "": the account's own */
    LOGS_APP,     /* application_… */
    LOGS_BUCKET,  /* "0042"; "" with the older layout */
    LOGS_FILE,    /* name of the file: node and port */
    LOGS_INCLUDE, /* pattern of files' names; "": all */
    LOGS_EXCLUDE, /* "": none */
    LOGS_SAMPLE,  /* parameters of the policy, which the NodeManager keeps here */
    LOGS_TIME,    /* milliseconds: the file's name ends in "_TIME"; "": it does not */
    LOGS_ROLLED_INCLUDE, /* "": the application's logs are not rolled */
    LOGS_ROLLED_EXCLUDE,
    LOGS_WEB, /* WebHDFS: "http://host:port"; "": the root is not there */
    LOGS_FIELDS,
    /* further tags */
    LOGS_TAG_CODEC = 64, /* 1 byte */
    LOGS_TAG_TIMEOUT,    /* 4 bytes: milliseconds */
    LOGS_TAG_HOSTNAMES,  /* 1 byte: dfs.client.use.datanode.hostname */
    LOGS_TAG_RIGHT,      /* name of a right, then LOGS_TAG_LIST */
    LOGS_TAG_LIST,
    LOGS_TAG_CONTAINER, /* an id, in the order in which they are written; none: all that there are
                         */
    LOGS_TAG_SKIP,      /* an id that is left out of all */
    LOGS_TAG_ENDED, /* an id of those that are written, whose container has ended; where APP_RUNS */
    LOGS_TAG_APP_RUNS,      /* 1 byte: rolled logs are uploaded, and noted (uploaded-list.h) */
    LOGS_TAG_DELETE,        /* 1 byte: and deleted then */
    LOGS_TAG_RATE,          /* 8 bytes: of bytes a second (upload-pace.h) */
    LOGS_TAG_FILES_MAX,     /* 4 bytes: rolled files of this node in the remote directory */
    LOGS_TAG_OLDER_LAYOUT,  /* 1 byte: no bucket (Hadoop before 3.3) */
    LOGS_TAG_OTHERS_BEFORE, /* 8 bytes: milliseconds. Besides the containers that are named, those
                             * whose directories have not changed since: they have ended */
};

struct logs_upload {
    char *text[LOGS_FIELDS]; /* into the request's bytes, by enum logs_field; never NULL */
    enum logs_codec codec;
    uint32_t io_timeout_ms;
    bool use_hostname;
    struct {
        char *right, *list;
    } acls[LOGS_UPLOAD_ACLS_MAX];
    size_t n_acls;
    struct logs_ids {
        char **v;
        size_t n;
    } containers, skips, ended; /* ended: sorted; containers: where others_before_ms */
    bool app_runs, delete_uploaded, older_layout;
    uint32_t files_max;
    uint64_t rate, others_before_ms;
    uint8_t *bytes; /* owned */
};

/* For the NodeManager: appends a field. */
int logs_upload_put(struct sv_buf *b, int tag, const void *p, size_t n) _must_use_;
int logs_upload_put_text(struct sv_buf *b, int tag, const char *s) _must_use_;
int logs_upload_put_u32(struct sv_buf *b, int tag, uint32_t v) _must_use_;
int logs_upload_put_u64(struct sv_buf *b, int tag, uint64_t v) _must_use_;

/* Takes the bytes of a request. -EBADMSG. */
int logs_upload_parse(uint8_t *bytes, size_t n, struct logs_upload *ret) _must_use_;
void logs_upload_clear(struct logs_upload *u);

enum logs_outcome { LOGS_DONE = 0, LOGS_NOTHING, LOGS_FAILED, LOGS_REFUSED };

/* LOGS_FAILED may succeed later, LOGS_REFUSED will not. The text says what was skipped, or why it
 * failed. */
struct logs_answer {
    uint32_t outcome; /* enum logs_outcome */
    uint32_t files, skipped;
    uint64_t bytes;                      /* of the uploaded logs */
    char text[LOGS_UPLOAD_TEXT_MAX + 4]; /* the rest is zeros */
};
/* n bytes of a datagram. -EBADMSG; the text is made printable. */
int logs_answer_parse(const void *p, size_t n, struct logs_answer *ret) _must_use_;

#endif
