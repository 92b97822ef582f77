/* Retry decisions; see retry.h. The tables hold the reactions of Hadoop 3.4's RMProxy, ServerProxy
 * and RetryPolicies to each exception, and the annotations of its protocol interfaces, as javap
 * prints them for the 3.4.2 jars. Hostile: the Java class names of a server's answers. */
#include "wire/ipc/retry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "wire/exceptions.h"
#include "wire/ipc/backoff.h"

/* ---- Classification of failures ---- */

static const struct {
    const char *java_class;
    enum ipc_failure failure;
} classes[] = {
    { JAVA_STANDBY, IPC_FAILURE_STANDBY },
    { JAVA_RETRIABLE, IPC_FAILURE_RETRIABLE },
    { "org.apache.hadoop.yarn.exceptions.NMNotYetReadyException", IPC_FAILURE_NOT_READY },
    { "org.apache.hadoop.security.AccessControlException", IPC_FAILURE_AUTH },
    { "org.apache.hadoop.security.authorize.AuthorizationException", IPC_FAILURE_AUTH },
    { "org.apache.hadoop.security.token.SecretManager$InvalidToken", IPC_FAILURE_AUTH },
    { "javax.security.sasl.SaslException", IPC_FAILURE_AUTH },
};

static enum ipc_failure of_class(const char *java_class)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(classes); i++)
        if (sv_streq(java_class, classes[i].java_class))
            return classes[i].failure;
    return IPC_FAILURE_REMOTE;
}

enum ipc_failure ipc_failure_of(const struct ipc_result *r)
{
    switch (-r->status) {
    case EREMOTEIO:
        return of_class(r->java_class);
    case EACCES: /* SASL: the server is an impostor, or rejects the client */
        return IPC_FAILURE_AUTH;
    case EAGAIN:
        return IPC_FAILURE_NO_TICKET;
    case ECONNREFUSED:
    case EHOSTUNREACH:
    case EHOSTDOWN:
    case ENETUNREACH:
    case ENETDOWN:
    case EADDRNOTAVAIL:
        return IPC_FAILURE_CONNECT;
    case ETIMEDOUT:
        return r->sent ? IPC_FAILURE_TIMEOUT : IPC_FAILURE_CONNECT_TIMEOUT;
    case ECONNRESET:
    case ECONNABORTED:
    case EPIPE:
    case ENOTCONN:
        return IPC_FAILURE_LOST;
    case EPROTO:
    case EBADMSG:
    case EMSGSIZE:
    case EIO:
        return IPC_FAILURE_LOCAL;
    default:
        return IPC_FAILURE_FINAL;
    }
}

const char *ipc_failure_name(enum ipc_failure f)
{
    static const char *const names[] = {
        [IPC_FAILURE_CONNECT] = "cannot be reached",
        [IPC_FAILURE_CONNECT_TIMEOUT] = "does not take connections",
        [IPC_FAILURE_LOST] = "broke the connection",
        [IPC_FAILURE_TIMEOUT] = "does not answer",
        [IPC_FAILURE_LOCAL] = "cannot be understood",
        [IPC_FAILURE_STANDBY] = "is in standby",
        [IPC_FAILURE_RETRIABLE] = "asks to be tried again",
        [IPC_FAILURE_NOT_READY] = "is not ready yet",
        [IPC_FAILURE_NO_TICKET] = "cannot be asked without a Kerberos ticket",
        [IPC_FAILURE_AUTH] = "refused the login",
        [IPC_FAILURE_REMOTE] = "answered with an exception",
        [IPC_FAILURE_FINAL] = "was not asked",
    };
    _Static_assert(SV_ARRAY_LEN(names) == IPC_FAILURE_COUNT, "one name a failure");
    return names[f];
}

/* ---- Calls that may be sent twice ---- */

static const char *const repeatable[] = {
    /* sorted */
    "addToClusterNodeLabels",
    "allocate",
    "batchSaveFederationQueuePolicies",
    "cancelDelegationToken",
    "checkForDecommissioningNodes",
    "deleteFederationApplication",
    "deleteFederationPoliciesByQueues",
    "deregisterSubCluster",
    "finishApplicationMaster",
    "forceKillApplication",
    "getApplicationAttemptReport",
    "getApplicationAttempts",
    "getApplicationReport",
    "getApplications",
    "getBlockLocations",
    "getClusterMetrics",
    "getClusterNodes",
    "getContainerReport",
    "getContainers",
    "getDataEncryptionKey",
    "getDelegationToken",
    "getFederationSubClusters",
    "getFileInfo",
    "getNewApplication",
    "getNewReservation",
    "getQueueInfo",
    "getQueueUserAcls",
    "getServerDefaults",
    "listFederationQueuePolicies",
    "mapAttributesToNodes",
    "moveApplicationAcrossQueues",
    "nodeHeartbeat",
    "refreshAdminAcls",
    "refreshClusterMaxPriority",
    "refreshNodes",
    "refreshNodesResources",
    "refreshQueues",
    "refreshServiceAcls",
    "refreshSuperUserGroupsConfiguration",
    "refreshUserToGroupsMappings",
    "registerApplicationMaster",
    "registerNodeManager",
    "removeFromClusterNodeLabels",
    "renewDelegationToken",
    "replaceLabelsOnNode",
    "reportBadBlocks",
    "saveFederationQueuePolicy",
    "submitApplication",
    "submitReservation",
    "unRegisterNodeManager",
    "updateApplicationPriority",
    "updateApplicationTimeouts",
    "updateNodeResource",
};

static int compare(const void *key, const void *row)
{
    return strcmp(key, *(const char *const *)row);
}

bool ipc_method_repeatable(const char *method)
{
    return bsearch(method, repeatable, SV_ARRAY_LEN(repeatable), sizeof(repeatable[0]), compare);
}

/* ServerProxy repeats every method of ContainerManagementProtocol; starting a container twice is
 * harmful. */
bool ipc_retry_safe(const struct ipc_retry_policy *p, const char *method)
{
    return p->kind == IPC_RETRY_NM ? !sv_streq(method, "startContainers")
                                   : ipc_method_repeatable(method);
}

/* ---- The policies ---- */

enum rule {
    NO = 0,
    SAME,      /* the same server again */
    NEXT,      /* the next one */
    SAME_SAFE, /* these two only if the server cannot have handled the call, or it is idempotent */
    NEXT_SAFE,
};

/* clang-format off */
static const enum rule rules[][IPC_FAILURE_COUNT] = {
    [IPC_RETRY_NEVER] = { NO },
    [IPC_RETRY_RM] = { /* RMProxy.createRetryPolicy, without HA: repeats every call */
        [IPC_FAILURE_CONNECT] = SAME,   [IPC_FAILURE_CONNECT_TIMEOUT] = SAME,
        [IPC_FAILURE_LOST] = SAME,      [IPC_FAILURE_TIMEOUT] = SAME,
        [IPC_FAILURE_LOCAL] = SAME,     [IPC_FAILURE_STANDBY] = SAME,
        [IPC_FAILURE_RETRIABLE] = SAME, [IPC_FAILURE_NO_TICKET] = SAME,
    },
    [IPC_RETRY_FAILOVER] = { /* RetryPolicies.FailoverOnNetworkExceptionRetry */
        [IPC_FAILURE_CONNECT] = NEXT,   [IPC_FAILURE_CONNECT_TIMEOUT] = NEXT,
        [IPC_FAILURE_LOST] = NEXT_SAFE, [IPC_FAILURE_TIMEOUT] = NEXT_SAFE,
        [IPC_FAILURE_LOCAL] = NEXT_SAFE, [IPC_FAILURE_STANDBY] = NEXT,
        [IPC_FAILURE_RETRIABLE] = SAME, [IPC_FAILURE_NO_TICKET] = SAME,
    },
    [IPC_RETRY_NM] = { /* ServerProxy.createRetryPolicy */
        [IPC_FAILURE_CONNECT] = SAME,   [IPC_FAILURE_CONNECT_TIMEOUT] = SAME,
        [IPC_FAILURE_LOST] = SAME_SAFE, [IPC_FAILURE_RETRIABLE] = SAME,
        [IPC_FAILURE_NOT_READY] = SAME, [IPC_FAILURE_NO_TICKET] = SAME,
    },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(rules) == IPC_RETRY_NM + 1, "one row a kind");

#define FIRST_WAIT_MS 100
#define LONGEST_WAIT_MS (7 * 86400000LL) /* upper limit of the configuration: no sum overflows */

/* RetryPolicies.calculateExponentialTime: base << n, at most max, times 0.5 to 1.5; the first at
 * once. */
static int64_t failover_wait(const struct ipc_retry_policy *p, int n, uint64_t noise)
{
    if (n == 0)
        return 0;
    int64_t max = SV_MIN(p->max_ms, LONGEST_WAIT_MS), wait = SV_MIN(p->base_ms, max);
    for (int i = 0; i < n && wait < max; i++)
        wait = SV_MIN(wait * 2, max);
    wait = SV_MAX(wait, 0);
    return wait / 2 + (int64_t)(noise % (uint64_t)(wait + 1));
}

/* ipc.Client: retries at the same server, before the policy is consulted. */
static bool connect_again(const struct ipc_retry_policy *p, struct ipc_retry_state *s,
                          enum ipc_failure failure)
{
    int allowed = failure == IPC_FAILURE_CONNECT           ? p->connect_retries
                  : failure == IPC_FAILURE_CONNECT_TIMEOUT ? p->connect_timeout_retries
                                                           : 0;
    return s->attempts_here < allowed;
}

static enum ipc_retry_decision fail(const char **ret_why, const char *why)
{
    *ret_why = why;
    return IPC_FAIL;
}

enum ipc_retry_decision ipc_retry_decide(const struct ipc_retry_policy *p,
                                         struct ipc_retry_state *s, enum ipc_failure failure,
                                         bool sent, bool again_is_safe, int64_t now_ms,
                                         uint64_t noise, int64_t *ret_wait_ms, const char **ret_why)
{
    enum rule rule = rules[p->kind][failure];
    if (s->since_ms == 0)
        s->since_ms = SV_MAX(now_ms, 1);
    bool late = p->kind != IPC_RETRY_FAILOVER && p->max_wait_ms >= 0 &&
                now_ms - s->since_ms >= p->max_wait_ms;
    if (p->kind != IPC_RETRY_NEVER && !late && connect_again(p, s, failure)) {
        *ret_wait_ms =
            failure == IPC_FAILURE_CONNECT_TIMEOUT
                ? 0 /* no wait: the timeout took long already */
                : ipc_backoff_ms(FIRST_WAIT_MS, SV_MIN(p->connect_interval_ms, LONGEST_WAIT_MS),
                                 (unsigned)s->attempts_here, noise);
        s->attempts_here++;
        return IPC_RETRY_SAME;
    }
    s->attempts_here = 0;
    if (rule == NO)
        return fail(ret_why, NULL);
    if ((rule == SAME_SAFE || rule == NEXT_SAFE) && sent && !again_is_safe)
        return fail(ret_why, "it may have been done already, and doing it twice is not harmless");
    if (p->kind != IPC_RETRY_FAILOVER) {
        if (late)
            return fail(ret_why, "it was tried for as long as is configured");
        *ret_wait_ms = ipc_backoff_ms(FIRST_WAIT_MS, SV_MIN(p->interval_ms, LONGEST_WAIT_MS),
                                      (unsigned)s->retries, noise);
        s->retries++;
        return IPC_RETRY_SAME;
    }
    if (s->failovers >= p->max_failovers)
        return fail(ret_why, "every server was tried as often as is configured");
    if (rule == SAME) {
        *ret_wait_ms = failover_wait(p, s->retries, noise);
        s->retries++;
        s->failovers++; /* bounds the retries; FailoverOnNetworkExceptionRetry ends after one */
        return IPC_RETRY_SAME;
    }
    *ret_wait_ms = failover_wait(p, s->failovers, noise);
    s->retries++;
    s->failovers++;
    return IPC_RETRY_NEXT;
}
