/* Daemon side of the helper protocol (request.h): encodes requests, decodes replies and exit
 * records. Not part of the helper. */
#ifndef SELVEDGE_EXECUTOR_HELPER_PROTOCOL_H
#define SELVEDGE_EXECUTOR_HELPER_PROTOCOL_H

#include "common/base.h"
#include "executor/request.h"
#include "wire/ids.h"

#define EXE_REPLY_SIZE_MAX (sizeof(struct exe_reply_head) + EXE_REPLY_TEXT_MAX)

struct exe_reply {
    uint16_t version;
    uint16_t status;
    int32_t error;
    uint64_t request_id;
    int32_t pid;
    const char *text; /* the object; CHECK: the policy, one key=value a line; not a C string */
    uint16_t text_len;
};
bool exe_version_ok(uint16_t version); /* one of the two supported versions */
/* `ret->text` points into `buf`. A reply of an unsupported version is decoded as EXE_STATUS_VERSION
 * without text. */
int exe_reply_decode(const uint8_t *buf, size_t len, struct exe_reply *ret); /* 0, -EBADMSG… */

/* Fields of a request; the categories may be NULL. */
void exe_request_app(struct exe_request *r, struct yarn_app_id app);
void exe_request_container(struct exe_request *r, struct yarn_container_id id);
void exe_request_categories(struct exe_request *r, const uint16_t *categories);
int exe_request_user(struct exe_request *r, const char *user) _must_use_; /* -EINVAL: too long */
/* The account, and the submitter. */
int exe_request_owner(struct exe_request *r, const char *user, const char *submitter) _must_use_;
/* Writes EXE_REQUEST_SIZE bytes into `buf`; -EINVAL if the helper would refuse the request. */
int exe_request_encode(const struct exe_request *r, uint8_t *buf, size_t size);
int exe_record_decode(const uint8_t *buf, size_t len, struct exe_record *ret); /* 0, -EBADMSG */
/* Text of a status; "unknown status" for other numbers. */
const char *exe_status_text(int status);

#endif
