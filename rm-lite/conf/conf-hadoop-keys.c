/* Keys of Hadoop's ResourceManager (yarn-default.xml of 3.4.2) that have no row in rm-conf.c,
 * grouped by their treatment. See conf-unread.h. The key of a feature moves from here to rm-conf.c
 * when the feature is added. */
#include "rm-lite/conf/conf-unread.h"

#include <stddef.h>

/* clang-format off */
static const char *const elsewhere_keys[] = {
    "hostname=0.0.0.0", "scheduler.monitor.enable=false",
    "scheduler.monitor.policies=org.apache.hadoop.yarn.server.resourcemanager.monitor.capacity.ProportionalCapacityPreemptionPolicy", NULL,
};

static const char *const clients_keys[] = {
    "connect.max-wait.ms=900000",
    "connect.retry-interval.ms=30000",
    NULL,
};

static const char *const kerberos_keys[] = {
    "keytab=/etc/krb5.keytab",
    "principal=",
    NULL,
};

static const char *const renewer_keys[] = {
    "delegation-token-renewer.thread-count=50",
    "delegation-token-renewer.thread-retry-interval=60s",
    "delegation-token-renewer.thread-timeout=60s",
    NULL,
};

static const char *const server_keys[] = {
    "webapp.cross-origin.enabled=false",
    "webapp.delegation-token-auth-filter.enabled=true",
    "webapp.https.address=${yarn.resourcemanager.hostname}:8090",
    "webapp.rest-csrf.custom-header=X-XSRF-Header",
    "webapp.rest-csrf.enabled=false",
    "webapp.rest-csrf.methods-to-ignore=GET,OPTIONS,HEAD",
    "webapp.spnego-keytab-file=",
    "webapp.spnego-principal=",
    "webapp.xfs-filter.xframe-options=SAMEORIGIN",
    NULL,
};

static const char *const ha_keys[] = {
    "ha.automatic-failover.embedded=true",
    "ha.automatic-failover.enabled=true",
    "ha.automatic-failover.zk-base-path=/yarn-leader-election",
    "ha.failover-controller.active-standby-elector.zk.retries=",
    "ha.id=",
    "ha.rm-ids=",
    NULL,
};

static const char *const split_keys[] = {
    "zk-appid-node.split-index=0",
    NULL,
};

static const char *const store_keys[] = {
    "fs.state-store.num-retries=0",
    "fs.state-store.retry-interval-ms=1000",
    "fs.state-store.uri=${hadoop.tmp.dir}/yarn/system/rmstore",
    "leveldb-state-store.compaction-interval-secs=3600",
    "leveldb-state-store.path=${hadoop.tmp.dir}/yarn/system/rmstore",
    "store.class=org.apache.hadoop.yarn.server.resourcemanager.recovery.FileSystemRMStateStore",
    "zk-client-ssl.enabled=false",
    "zk-delegation-token-node.split-index=0",
    "zk-max-znode-size.bytes=1048576",
    "zk-state-store.parent-path=/rmstore",
    "zk-state-store.root-node.acl=",
    NULL,
};

static const char *const java_keys[] = {
    "admin.client.thread-count=1",
    "amlauncher.thread-count=50",
    "application-timeouts.monitor.interval-ms=3000",
    "client.thread-count=50",
    "container.liveness-monitor.interval-ms=600000",
    "decommissioning-nodes-watcher.poll-interval-secs=20",
    "fail-fast=${yarn.fail-fast}",
    "history-writer.multi-threaded-dispatcher.pool-size=10",
    "metrics.runtime.buckets=60,300,1440",
    "node-ip-cache.expiry-interval-secs=-1",
    "placement-constraints.algorithm.pool-size=1",
    "placement-constraints.scheduler.pool-size=1",
    "resource-tracker.client.thread-count=50",
    "resource-tracker.nm.ip-hostname-check=false",
    "scheduler.client.thread-count=50",
    "system-metrics-publisher.dispatcher.pool-size=10",
    NULL,
};

static const char *const constraints_keys[] = {
    "placement-constraints.algorithm.class=org.apache.hadoop.yarn.server.resourcemanager.scheduler.constraint.algorithm.DefaultPlacementAlgorithm",
    "placement-constraints.algorithm.iterator=SERIAL",
    NULL,
};

static const char *const opportunistic_keys[] = {
    "nm-container-queuing.load-comparator=QUEUE_LENGTH",
    "nm-container-queuing.max-queue-length=15",
    "nm-container-queuing.max-queue-wait-time-ms=100",
    "nm-container-queuing.min-queue-length=5",
    "nm-container-queuing.min-queue-wait-time-ms=10",
    "nm-container-queuing.queue-limit-stdev=1.0f",
    "nm-container-queuing.sorting-nodes-interval-ms=1000",
    "opportunistic-container-allocation.nodes-used=10",
    "opportunistic.max.container-allocation.per.am.heartbeat=-1",
    NULL,
};

static const char *const labels_keys[] = {
    "node-labels.am.allow-non-exclusive-allocation=false",
    "node-labels.am.default-node-label-expression=",
    "node-labels.provider=",
    "node-labels.provider.fetch-interval-ms=1800000",
    "node-labels.provider.update-newly-registered-nodes-interval-ms=30000",
    "nodestore-rootdir.num-retries=1000",
    "nodestore-rootdir.retry-interval-ms=1000",
    NULL,
};

static const char *const heartbeat_keys[] = {
    "nodemanagers.heartbeat-interval-max-ms=1000",
    "nodemanagers.heartbeat-interval-min-ms=1000",
    "nodemanagers.heartbeat-interval-scaling-enable=false",
    "nodemanagers.heartbeat-interval-slowdown-factor=1.0",
    "nodemanagers.heartbeat-interval-speedup-factor=1.0",
    NULL,
};

static const char *const nodes_keys[] = {
    "enable-node-untracked-without-include-path=false",
    "node-removal-untracked.node-selective-states-to-remove=",
    NULL,
};

static const char *const publisher_keys[] = {
    "system-metrics-publisher.enabled=false",
    "system-metrics-publisher.timeline-server-v1.batch-size=1000",
    "system-metrics-publisher.timeline-server-v1.enable-batch=false",
    "system-metrics-publisher.timeline-server-v1.interval-seconds=60",
    NULL,
};

static const char *const submission_keys[] = {
    "application-master-service.processors=",
    "application-tag-based-placement.enable=false",
    "application-tag-based-placement.force-lowercase=true",
    "application-tag-based-placement.username.whitelist=",
    "submission-preprocessor.enabled=false",
    "submission-preprocessor.file-path=",
    "submission-preprocessor.file-refresh-interval-ms=60000",
    NULL,
};

static const char *const web_keys[] = {
    "webapp.ui-actions.enabled=true",
    NULL,
};

static const char *const activities_keys[] = {
    "activities-manager.app-activities.max-queue-length=100",
    "activities-manager.app-activities.ttl-ms=600000",
    "activities-manager.cleanup-interval-ms=5000",
    "activities-manager.scheduler-activities.ttl-ms=600000",
    NULL,
};

static const char *const scheduling_keys[] = {
    "auto-update.containers=false",
    "reservation-system.class=",
    "reservation-system.enable=false",
    "reservation-system.plan.follower=",
    "reservation-system.planfollower.time-step=1000",
    "resource-profiles.enabled=false",
    "resource-profiles.source-file=resource-profiles.json",
    NULL,
};

static const char *const limits_keys[] = {
    "max-log-aggregation-diagnostics-in-memory=10",
    "state-store.max-completed-applications=${yarn.resourcemanager.max-completed-applications}",
    NULL,
};

static const char *const provider_keys[] = {
    "configuration.file-system-based-store=/yarn/conf",
    NULL,
};

const struct rm_key_group rm_key_groups[] = {
    { RM_KEY_READ, "with the addresses and the preemption", elsewhere_keys },
    { RM_KEY_OTHER, "of clients and NodeManagers", clients_keys },
    { RM_KEY_READ, "with Kerberos", kerberos_keys },
    { RM_KEY_NO_MEANING, "renewals have no threads: at most 50 calls at a time, repeated after 1 s to a minute", renewer_keys },
    { RM_KEY_READ, "with the web server", server_keys },
    { RM_KEY_NO_MEANING, "of several ResourceManagers; refused with ha.enabled=true", ha_keys },
    { RM_KEY_NO_MEANING, "the federation's store in ZooKeeper reads it; that of applications is a database in selvedge.rm.state-dir", split_keys },
    { RM_KEY_NO_MEANING, "the state store is a database in selvedge.rm.state-dir", store_keys },
    { RM_KEY_NO_MEANING, "of the Java daemon: its threads, caches and timers", java_keys },
    { RM_KEY_NOT_DONE, "other algorithms of placement; requests are placed in the order of priority and allocationRequestId", constraints_keys },
    { RM_KEY_NOT_DONE, "allocation of opportunistic containers", opportunistic_keys },
    { RM_KEY_NOT_DONE, "node labels and attributes", labels_keys },
    { RM_KEY_NOT_DONE, "heartbeat intervals that follow the load", heartbeat_keys },
    { RM_KEY_NOT_DONE, "which untracked nodes are forgotten: those out of a list of hosts that may join, in each state", nodes_keys },
    { RM_KEY_NOT_DONE, "timeline service", publisher_keys },
    { RM_KEY_NOT_DONE, "changes of submissions by file or tag, processors of requests", submission_keys },
    { RM_KEY_NOT_DONE, "switches of the web pages; selvedge.rm.webapp.put.enabled=false takes the form to kill away", web_keys },
    { RM_KEY_NOT_DONE, "the scheduler's activities are kept for 10 minutes, 100 of an application", activities_keys },
    { RM_KEY_NOT_DONE, "reservations in advance, resource profiles, automatic updates of containers", scheduling_keys },
    { RM_KEY_NOT_DONE, "a limit of its own for the state store, length of log aggregation diagnostics", limits_keys },
    { RM_KEY_NOT_DONE, "configuration from a file system; refused with configuration.provider-class", provider_keys },
    { 0 },
};

#define RM "yarn.resourcemanager."

static const char *const system_groups[] = {
    "org.apache.hadoop.security.JniBasedUnixGroupsMapping",
    "org.apache.hadoop.security.ShellBasedUnixGroupsMapping",
    "org.apache.hadoop.security.LdapGroupsMapping",
    NULL,
};
static const char *const configured_authorizer[] = {
    "org.apache.hadoop.yarn.security.ConfiguredYarnAuthorizer",
    NULL,
};

const struct rm_key_refusal rm_key_refusals[] = {
    { { RM "ha.enabled", SV_CONF_BOOL, "false", .help = "true is refused" }, "there is one ResourceManager without failover: two would run applications twice; set it to false" },
    { { RM "scheduler.class", SV_CONF_STRING, "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler", .help = "others are refused" }, "the scheduler is the CapacityScheduler: queues of another would be passed over" },
    { { RM "configuration.provider-class", SV_CONF_STRING, "org.apache.hadoop.yarn.LocalConfigurationProvider", .help = "others are refused" }, "files are read from this machine alone: queues and access lists kept elsewhere would be passed over" },
    { { RM "application-https.policy", SV_CONF_STRING, "NONE", .help = "others are refused" }, "ApplicationMasters get no certificates: their pages would be in clear; NONE accepts that" },
    { { "hadoop.security.saslproperties.resolver.class", SV_CONF_STRING, "org.apache.hadoop.security.SaslPropertiesResolver", .help = "others are refused" }, "protection by a client's address is not there: what the class demands would be passed over; hadoop.rpc.protection holds for all" },
    { { "hadoop.security.impersonation.provider.class", SV_CONF_STRING, "org.apache.hadoop.security.authorize.DefaultImpersonationProvider", .help = "others are refused" }, "who acts for others is said by hadoop.proxyuser.*: the rules of another class would be passed over" },
    { { "hadoop.security.group.mapping", SV_CONF_STRING, "org.apache.hadoop.security.JniBasedUnixGroupsMappingWithFallback", .help = "others are refused" }, "groups are those that this machine's name service has, or those of LDAP: those of another source would be missing in access lists", system_groups },
    { { "yarn.authorization-provider", SV_CONF_STRING, "", .help = "others are refused" }, "access lists are those of yarn-site.xml and capacity-scheduler.xml: a provider's rules would be passed over", configured_authorizer },
    { { "yarn.node-labels.enabled", SV_CONF_BOOL, "false", .help = "true is refused" }, "there are no node labels: jobs would run on nodes that labels keep from them; set it to false" },
    { { "yarn.scheduler.configuration.store.class", SV_CONF_STRING, "file", .help = "others are refused" }, "queues are those of capacity-scheduler.xml: those of another store would be passed over; export them to the file" },
    { { 0 }, NULL, NULL },
};
/* clang-format on */
