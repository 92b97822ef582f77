/* Names of the exception classes that Hadoop's clients rebuild from an RPC answer. */
#ifndef SELVEDGE_WIRE_EXCEPTIONS_H
#define SELVEDGE_WIRE_EXCEPTIONS_H

#define JAVA_YARN_EXCEPTION "org.apache.hadoop.yarn.exceptions.YarnException"
#define JAVA_INVALID_CONTAINER "org.apache.hadoop.yarn.exceptions.InvalidContainerException"
#define JAVA_INVALID_AUX_SERVICE "org.apache.hadoop.yarn.exceptions.InvalidAuxServiceException"
#define JAVA_NM_NOT_READY "org.apache.hadoop.yarn.exceptions.NMNotYetReadyException"
#define JAVA_INVALID_TOKEN "org.apache.hadoop.security.token.SecretManager$InvalidToken"
#define JAVA_APP_NOT_FOUND "org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException"
#define JAVA_ATTEMPT_NOT_FOUND                                                                     \
    "org.apache.hadoop.yarn.exceptions.ApplicationAttemptNotFoundException"
#define JAVA_CONTAINER_NOT_FOUND "org.apache.hadoop.yarn.exceptions.ContainerNotFoundException"
#define JAVA_AM_NOT_REGISTERED                                                                     \
    "org.apache.hadoop.yarn.exceptions.ApplicationMasterNotRegisteredException"
#define JAVA_INVALID_AM_REQUEST                                                                    \
    "org.apache.hadoop.yarn.exceptions.InvalidApplicationMasterRequestException"
#define JAVA_INVALID_RESOURCE_REQUEST                                                              \
    "org.apache.hadoop.yarn.exceptions.InvalidResourceRequestException"
#define JAVA_INVALID_LABEL_REQUEST                                                                 \
    "org.apache.hadoop.yarn.exceptions.InvalidLabelResourceRequestException"
#define JAVA_INVALID_RELEASE "org.apache.hadoop.yarn.exceptions.InvalidContainerReleaseException"
#define JAVA_FEATURE_NOT_ENABLED "org.apache.hadoop.yarn.exceptions.YARNFeatureNotEnabledException"
#define JAVA_RETRIABLE "org.apache.hadoop.ipc.RetriableException"
#define JAVA_STANDBY "org.apache.hadoop.ipc.StandbyException"
#define JAVA_ACCESS_CONTROL "org.apache.hadoop.security.AccessControlException"
#define JAVA_AUTHORIZATION "org.apache.hadoop.security.authorize.AuthorizationException"
#define JAVA_IO_EXCEPTION "java.io.IOException"
#define JAVA_ILLEGAL_ARGUMENT "java.lang.IllegalArgumentException"

#endif
