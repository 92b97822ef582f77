/* Hadoop versions. */
#ifndef SELVEDGE_RM_LITE_CORE_VERSION_H
#define SELVEDGE_RM_LITE_CORE_VERSION_H

/* The Hadoop release whose protocols this ResourceManager speaks; NodeManagers compare it with
 * yarn.nodemanager.resourcemanager.minimum.version. */
#define RM_HADOOP_VERSION "3.4.2"

/* Hadoop's VersionUtil: numeric parts one by one; "3.4.0-SNAPSHOT" is before "3.4.0". */
int rm_version_cmp(const char *a, const char *b);

#endif
