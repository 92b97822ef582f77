/* Places of the registry, as Hadoop's RegistryUtils makes them:
 *
 *   /users/USER/services/CLASS/NAME                      the record of a service
 *   /users/USER/services/CLASS/NAME/components/CTR-ID    that of an instance
 */
#ifndef SELVEDGE_REGISTRY_PATH_H
#define SELVEDGE_REGISTRY_PATH_H

#include "common/base.h"

#define REG_PATH_MAX 767
#define REG_NAME_MAX 255
#define REG_CLASS_YARN "yarn-service"

/* A user as a part of a path: "Some_User/host@REALM" is "some-user". -EINVAL: empty, or not ASCII
 * (Java makes punycode of it). */
int reg_user(const char *user, char ret[REG_NAME_MAX + 1]) _must_use_;
/* -EINVAL: a part is empty, too long, or has a slash; -ENAMETOOLONG. */
int reg_service_path(const char *user, const char *class, const char *name,
                     char ret[REG_PATH_MAX + 1]) _must_use_;
/* `service`: a path of the above; `id` NULL: the folder of its components. */
int reg_component_path(const char *service, const char *id, char ret[REG_PATH_MAX + 1]) _must_use_;
/* "container_e17_1_0001_01_000002" is "ctr-e17-1-0001-01-000002". -ENAMETOOLONG. */
int reg_encode_id(const char *id, char ret[REG_NAME_MAX + 1]) _must_use_;

#endif
