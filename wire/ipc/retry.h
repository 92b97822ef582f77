/* Retry decisions by the rules of Hadoop's clients: which failures, which server, after which
 * delay, for how long. Pure: no clock, no sockets, no memory.
 *
 * Two levels, as in Hadoop. The lower one is ipc.Client's: connecting to an unreachable server is
 * retried some times. Remaining failures are subject to the policy:
 *   RM, one ResourceManager   RMProxy: until max_wait_ms have passed since the first failure
 *   RM, several               RetryPolicies.failoverOnNetworkException, as RMProxy configures it
 *   NM                        ServerProxy, for ContainerManagementProtocol, except that a
 *                             startContainers that may have arrived is not resent: its caller
 *                             queries the node first
 * Authentication that failed is final at once under each policy, as in Hadoop's RetryPolicies; who
 * repeats such a call begins at another server (ipc_proxy_fail_over()). A ticket that cannot be had
 * now is ours alone: the same server is tried again, since another one would want a ticket as well.
 * Fixed delays of Hadoop begin shorter here and double up to Hadoop's value, with jitter: a
 * thousand nodes do not return to a restarted ResourceManager in the same second. */
#ifndef SELVEDGE_WIRE_IPC_RETRY_H
#define SELVEDGE_WIRE_IPC_RETRY_H

#include "common/base.h"
#include "wire/ipc/ipc-client.h"

enum ipc_failure {
    IPC_FAILURE_CONNECT, /* ConnectException, NoRouteToHost, UnknownHost: nothing was sent */
    IPC_FAILURE_CONNECT_TIMEOUT, /* ConnectTimeoutException: nothing was sent */
    IPC_FAILURE_LOST,            /* EOFException, SocketException: the connection broke */
    IPC_FAILURE_TIMEOUT,         /* SocketTimeoutException: sent, and no answer in time */
    IPC_FAILURE_LOCAL,     /* other IOException of the client: an answer that makes no sense */
    IPC_FAILURE_STANDBY,   /* StandbyException: this server is not the active one */
    IPC_FAILURE_RETRIABLE, /* RetriableException: the server requests a retry */
    IPC_FAILURE_NOT_READY, /* NMNotYetReadyException */
    IPC_FAILURE_NO_TICKET, /* no Kerberos ticket of our own for the server: nothing was sent */
    IPC_FAILURE_AUTH,      /* AccessControlException, SaslException, InvalidToken: either side has
                            * refused the other */
    IPC_FAILURE_REMOTE,    /* any other exception: the server has handled the call */
    IPC_FAILURE_FINAL,     /* cancelled, or out of a local resource */
    IPC_FAILURE_COUNT
};

/* Classifies a result (status < 0). */
enum ipc_failure ipc_failure_of(const struct ipc_result *r);
const char *ipc_failure_name(enum ipc_failure f);
/* True if the server is unreachable or not active, false if it rejected the call. */
static inline bool ipc_failure_is_absence(enum ipc_failure f)
{
    return f <= IPC_FAILURE_RETRIABLE && f != IPC_FAILURE_LOCAL;
}

/* @Idempotent or @AtMostOnce in Hadoop's interfaces: such a call may be resent although the first
 * one may have been handled. */
bool ipc_method_repeatable(const char *method);

enum ipc_retry_kind { IPC_RETRY_NEVER, IPC_RETRY_RM, IPC_RETRY_FAILOVER, IPC_RETRY_NM };

struct ipc_retry_policy {
    enum ipc_retry_kind kind;
    int connect_retries;         /* ipc.client.connect.max.retries */
    int connect_timeout_retries; /* ipc.client.connect.max.retries.on.timeouts */
    int64_t connect_interval_ms; /* ipc.client.connect.retry.interval */
    int64_t max_wait_ms;         /* RM, NM: since the first failure; -1 = for ever */
    int64_t interval_ms;         /* RM, NM: the longest time between two attempts */
    int max_failovers;           /* FAILOVER: yarn.client.failover-max-attempts */
    int64_t base_ms, max_ms;     /* FAILOVER: yarn.client.failover-sleep-{base,max}-ms */
};

/* Retry state of one call; initialize with zeros. */
struct ipc_retry_state {
    int attempts_here;      /* failures to connect since the last decision of the policy */
    int retries, failovers; /* decided by the policy */
    int64_t since_ms;       /* time of the first failure; 0 = none yet */
};

enum ipc_retry_decision { IPC_FAIL, IPC_RETRY_SAME, IPC_RETRY_NEXT };

/* True if a call may run twice; for ipc_retry_decide. */
bool ipc_retry_safe(const struct ipc_retry_policy *p, const char *method);
/* Decides on one failure and counts it in *s. `sent`: the server may have received the call.
 * `noise`: a random number. *ret_wait_ms is set unless IPC_FAIL; *ret_why, a reason for messages,
 * only then (NULL: this kind of failure is never retried). */
enum ipc_retry_decision ipc_retry_decide(const struct ipc_retry_policy *p,
                                         struct ipc_retry_state *s, enum ipc_failure failure,
                                         bool sent, bool again_is_safe, int64_t now_ms,
                                         uint64_t noise, int64_t *ret_wait_ms,
                                         const char **ret_why);

#endif
