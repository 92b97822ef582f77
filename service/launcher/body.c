/* See body.h. */
#include "service/launcher/body.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "service/framework/bodies.h"
#include "service/launcher/model.h"

#define FRAMEWORKS "/v1/Frameworks/"
#define REQUEST "/v1/LauncherRequest/"

/* By the path as it was sent: one that is written in another way is read where it is answered. */
enum svc_lr_body_kind svc_lr_body_kind(const char *method, const char *uri)
{
    if (strcmp(method, "PUT") != 0)
        return SVC_LR_BODY_SHORT;
    if (sv_has_prefix(uri, FRAMEWORKS) && !strchr(uri + strlen(FRAMEWORKS), '/'))
        return SVC_LR_BODY_FRAMEWORK;
    if (sv_has_prefix(uri, REQUEST "ClusterConfiguration"))
        return SVC_LR_BODY_CLUSTER;
    return sv_has_prefix(uri, REQUEST "AclConfiguration") ? SVC_LR_BODY_ACL : SVC_LR_BODY_SHORT;
}

static void read_framework(struct svc_lr_body *b, const char *json, size_t len, bool gpus)
{
    b->arena = sv_arena_new(0);
    b->status = b->arena ? svc_fw_parse(json, len, gpus, b->arena, &b->d, &b->bad) : -ENOMEM;
    if (b->status == 0)
        b->text = svc_lr_text_of(b->d);
}

void svc_lr_body_read(enum svc_lr_body_kind kind, const char *json, size_t len, bool gpus,
                      struct svc_lr_body *ret)
{
    *ret = (struct svc_lr_body){ .kind = kind };
    if (kind == SVC_LR_BODY_FRAMEWORK)
        read_framework(ret, json, len, gpus);
    else if (kind == SVC_LR_BODY_CLUSTER)
        ret->status = svc_fw_read_cluster(json, len, &ret->value, &ret->bad);
    else if (kind == SVC_LR_BODY_ACL)
        ret->status = svc_fw_read_acl(json, len, &ret->value, &ret->bad);
}

void svc_lr_body_free(struct svc_lr_body *b)
{
    b->arena = sv_arena_free(b->arena);
    free(b->text);
    free(b->bad);
    json_decref(b->value);
    *b = (struct svc_lr_body){ 0 };
}

int svc_lr_body_set_user(struct svc_lr_body *b, const char *user)
{
    _cleanup_free_ char *old = NULL, *value = NULL;
    char *name = sv_arena_strdup(b->arena, user), *text = NULL;

    if (!name || sv_asprintf(&old, "\"%s\"", b->d->user) < 0 ||
        sv_asprintf(&value, "\"%s\"", user) < 0)
        return -ENOMEM;
    if (b->text)
        text = svc_lr_with_value(b->text, "\"user\":{\"name\":", old, value);
    b->d->user = name;
    free(b->text);
    b->text = text ? text : svc_lr_text_of(b->d);
    return b->text ? 0 : -ENOMEM;
}
