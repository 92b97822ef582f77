/* Local resources of a launch context: checks and conversion. Hostile: resources that applications
 * request; these functions and the cache check the requests, the localizer the fetched files. */
#ifndef SELVEDGE_NODEMANAGER_SERVICES_LOCALIZATION_REQUEST_H
#define SELVEDGE_NODEMANAGER_SERVICES_LOCALIZATION_REQUEST_H

#include "common/arena.h"
#include "common/conf.h"
#include "common/error.h"
#include "localizer/cache.h"
#include "wire/ipc/methods.h"

/* Refuses invalid requests of an application (link names, URLs, numbers); no side effect.
 * `conf`: what URLs without a scheme and of viewfs: mean (fs/resolve.h). */
int nm_localization_check(const Hadoop__Yarn__ContainerLaunchContextProto *clc,
                          struct sv_conf *conf, struct sv_error *err) _must_use_;
/* One resource; strings are in the arena or the message. */
int nm_localization_convert(const Hadoop__Yarn__StringLocalResourceMapProto *m,
                            struct sv_conf *conf, struct sv_arena *a, struct loc_resource *ret,
                            struct sv_error *err) _must_use_;

#endif
