/* Keys of Hadoop's NodeManager that ours does not read, by reason (yarn-default.xml of 3.4 and 3.5,
 * and a few found only in Hadoop's code). See conf-unread.h. The key of a feature moves from here
 * into the table of conf.c when the feature is added. */
#include "nodemanager/conf/conf-unread.h"

#include <stddef.h>

/* clang-format off */
static const char *const docker_keys[] = {
    "resource-plugins.gpu.docker-plugin=nvidia-docker-v1",
    "resource-plugins.gpu.docker-plugin.nvidia-docker-v1.endpoint=http://localhost:3476/v1.0/docker/cli",
    "runtime.linux.docker.allowed-container-networks=host,none,bridge",
    "runtime.linux.docker.allowed-container-runtimes=runc",
    "runtime.linux.docker.capabilities=CHOWN,DAC_OVERRIDE,FSETID,FOWNER,MKNOD,NET_RAW,SETGID,SETUID,SETFCAP,SETPCAP,NET_BIND_SERVICE,SYS_CHROOT,KILL,AUDIT_WRITE",
    "runtime.linux.docker.default-container-network=host", "runtime.linux.docker.default-ro-mounts",
    "runtime.linux.docker.default-rw-mounts", "runtime.linux.docker.default-tmpfs-mounts",
    "runtime.linux.docker.delayed-removal.allowed=false",
    "runtime.linux.docker.enable-userremapping.allowed=true",
    "runtime.linux.docker.host-pid-namespace.allowed=false", "runtime.linux.docker.image-name",
    "runtime.linux.docker.image-update=false", "runtime.linux.docker.privileged-containers.acl",
    "runtime.linux.docker.privileged-containers.allowed=false",
    "runtime.linux.docker.stop.grace-period=10",
    "runtime.linux.docker.userremapping-gid-threshold=1",
    "runtime.linux.docker.userremapping-uid-threshold=1",
    "runtime.linux.runc.allowed-container-networks=host,none,bridge",
    "runtime.linux.runc.allowed-container-runtimes=runc", "runtime.linux.runc.default-ro-mounts",
    "runtime.linux.runc.default-rw-mounts",
    "runtime.linux.runc.hdfs-manifest-to-resources-plugin.stat-cache-size=500",
    "runtime.linux.runc.hdfs-manifest-to-resources-plugin.stat-cache-timeout-interval-secs=360",
    "runtime.linux.runc.host-pid-namespace.allowed=false", "runtime.linux.runc.image-name",
    "runtime.linux.runc.image-tag-to-manifest-plugin=org.apache.hadoop.yarn.server.nodemanager.containermanager.linux.runtime.runc.ImageTagToManifestPlugin",
    "runtime.linux.runc.image-tag-to-manifest-plugin.cache-refresh-interval-secs=60",
    "runtime.linux.runc.image-tag-to-manifest-plugin.hdfs-hash-file=/runc-root/image-tag-to-hash",
    "runtime.linux.runc.image-tag-to-manifest-plugin.local-hash-file",
    "runtime.linux.runc.image-tag-to-manifest-plugin.num-manifests-to-cache=10",
    "runtime.linux.runc.image-toplevel-dir=/runc-root",
    "runtime.linux.runc.layer-mounts-interval-secs=600",
    "runtime.linux.runc.layer-mounts-to-keep=100",
    "runtime.linux.runc.manifest-to-resources-plugin=org.apache.hadoop.yarn.server.nodemanager.containermanager.linux.runtime.runc.HdfsManifestToResourcesPlugin",
    "runtime.linux.runc.privileged-containers.acl",
    "runtime.linux.runc.privileged-containers.allowed=false", "runtime.linux.runc.seccomp-profile",
    NULL,
};

static const char *const sandbox_keys[] = {
    "runtime.linux.sandbox-mode=disabled", "runtime.linux.sandbox-mode.local-dirs.permissions=read",
    "runtime.linux.sandbox-mode.policy", "runtime.linux.sandbox-mode.whitelist-group", NULL,
};

static const char *const windows_keys[] = {
    "windows-container.cpu-limit.enabled=false", "windows-container.memory-limit.enabled=false",
    "windows-secure-container-executor.group", NULL,
};

static const char *const cgroups_keys[] = {
    "elastic-memory-control.oom-handler=org.apache.hadoop.yarn.server.nodemanager.containermanager.linux.resources.DefaultOOMHandler",
    "elastic-memory-control.oom-listener.path",
    "linux-container-executor.cgroups.delete-delay-ms=20",
    "linux-container-executor.cgroups.delete-timeout-ms=1000",
    "linux-container-executor.cgroups.hierarchy=/hadoop-yarn",
    "linux-container-executor.cgroups.mount=false", "linux-container-executor.cgroups.mount-path",
    "linux-container-executor.cgroups.v2.enabled=false",
    "linux-container-executor.cgroups.v2.mount-path",
    "linux-container-executor.resources-handler.class=org.apache.hadoop.yarn.server.nodemanager.util.DefaultLCEResourcesHandler",
    "numa-awareness.numactl.cmd=/usr/bin/numactl", "resource.cpu.enabled=false",
    "resource.memory.cgroups.swappiness=0", "resource.memory.enabled=false", NULL,
};

static const char *const executor_keys[] = {
    "container-executor.exit-code-file.timeout-ms=2000",
    "containers-launcher.class=org.apache.hadoop.yarn.server.nodemanager.containermanager.launcher.ContainersLauncher",
    "default-container-executor.log-dirs.permissions=710",
    "linux-container-executor.group",
    "linux-container-executor.nonsecure-mode.user-pattern=^[_.A-Za-z0-9][-@_.A-Za-z0-9]{0,255}?[$]?$",
    "linux-container-executor.path", NULL,
};

static const char *const localizer_keys[] = {
    "container-localizer.admin.java.opts", "container-localizer.java.opts=-Xmx256m",
    "container-localizer.java.opts.add-exports-as-default=true",
    "container-localizer.log.level=INFO", "local-cache.max-files-per-directory=8192",
    "localizer.address=${yarn.nodemanager.hostname}:8040", "localizer.client.thread-count=5", NULL,
};

static const char *const java_keys[] = {
    "amrmproxy.client.thread-count=25", "collector-service.thread-count=5",
    "container-manager.thread-count=20", "container-metrics.unregister-delay-ms=10000",
    "container-monitor.enabled=true", "container-monitor.process-tree.class",
    "container-monitor.procfs-tree.smaps-based-rss.enabled=false",
    "container-monitor.resource-calculator.class", "container-state-transition-listener.classes",
    "delete.thread-count=4", "disk-validator=basic", "dispatcher.metric.enable=false",
    "log.deletion-threads-count=4",
    "recovery.compaction-interval-secs=3600", "resource-calculator.class",
    "yarn.ipc.rpc.class=org.apache.hadoop.yarn.ipc.HadoopYarnProtoRPC",
    "yarn.dispatcher.drain-events.timeout=300000", "yarn.fail-fast=false",
    "yarn.authorization-provider", NULL,
};

static const char *const aux_keys[] = {
    "aux-services.manifest", "aux-services.manifest.enabled=false",
    "aux-services.manifest.reload-ms=0", NULL,
};

static const char *const other_keys[] = { "yarn.node-labels.configuration-type=centralized", NULL };

static const char *const aggregation_keys[] = {
    "remote-app-log-dir-include-older=true", "yarn.log-aggregation.retain-seconds=-1",
    "yarn.log-aggregation.retain-check-interval-seconds=-1",
    "yarn.log-aggregation.debug.filesize=104857600", NULL,
};

static const char *const logs_keys[] = {
    "log-container-debug-info-on-error.enabled=false", "log.delete.threshold=100g",
    "log.trigger.delete.by-size.enabled=false", "yarn.intermediate-data-encryption.enable=false",
    NULL,
};

static const char *const timeline_keys[] = {
    "collector-service.address=${yarn.nodemanager.hostname}:8048", "emit-container-events=true",
    "yarn.timeline-service.enabled=false", "yarn.timeline-service.version=1.0f", NULL,
};

static const char *const devices_keys[] = {
    "csi-driver-adaptor.addresses", "csi-driver.names", "network-tagging-handler.enabled=false",
    "network-tagging.mapping-file.path", "pluggable-device-framework.device-classes",
    "pluggable-device-framework.enabled=false", "resource-plugins.fail-fast",
    "resource-plugins.fpga.allowed-fpga-devices=auto", "resource-plugins.fpga.available-devices",
    "resource-plugins.fpga.device-discovery-script",
    "resource-plugins.fpga.path-to-discovery-executables",
    "resource-plugins.fpga.vendor-plugin.class=org.apache.hadoop.yarn.server.nodemanager.containermanager.resourceplugin.fpga.IntelFpgaOpenclPlugin",
    "resource-plugins.gpu.discovery-max-errors=10",
    "resource-plugins.gpu.discovery-timeout=10s", "resource.network.interface",
    NULL,
};

static const char *const kerberos_keys[] = {
    "hadoop.kerberos.keytab.login.autorenewal.enabled=false", "hadoop.kerberos.kinit.command=kinit",
    "hadoop.kerberos.min.seconds.before.relogin=60",
    "hadoop.security.dns.interface", "hadoop.security.dns.log-slow-lookups.enabled=false",
    "hadoop.security.dns.log-slow-lookups.threshold.ms=1000", "hadoop.security.dns.nameserver",
    "hadoop.security.hostname.cache.expire-interval.seconds=0",
    "hadoop.security.kerberos.ticket.cache.path", "ipc.client.connect.max.retries.on.sasl=5", NULL,
};

static const char *const callers_keys[] = {
    "hadoop.security.impersonation.provider.class", "hadoop.security.service.user.name.key", NULL,
};

static const char *const token_keys[] = { "hadoop.security.token.service.use_ip=true", NULL };

static const char *const hdfs_keys[] = {
    "dfs.block.access.token.enable=false", "dfs.client.ignore.namenode.default.kms.uri=false",
    "dfs.encrypt.data.transfer=false", "dfs.encrypt.data.transfer.cipher.key.bitlength=128",
    "hadoop.security.key.provider.path", NULL,
};

static const char *const cipher_keys[] = {
    "dfs.encrypt.data.transfer.algorithm",
    "hadoop.security.crypto.buffer.size=8192",
    "hadoop.security.crypto.cipher.suite=AES/CTR/NoPadding",
    "hadoop.security.crypto.codec.classes.aes.ctr.nopadding=org.apache.hadoop.crypto.OpensslAesCtrCryptoCodec, org.apache.hadoop.crypto.JceAesCtrCryptoCodec",
    "hadoop.security.crypto.jce.provider", "hadoop.security.crypto.jce.provider.auto-add=true",
    "hadoop.security.java.secure.random.algorithm=SHA1PRNG", "hadoop.security.openssl.engine.id",
    "hadoop.security.random.device.file.path=/dev/urandom",
    "hadoop.security.secure.random.impl=org.apache.hadoop.crypto.random.OpensslSecureRandom", NULL,
};

static const char *const kms_keys[] = {
    "hadoop.security.kms.client.authentication.retry-count=1",
    "hadoop.security.kms.client.encrypted.key.cache.expiry=43200000",
    "hadoop.security.kms.client.encrypted.key.cache.low-watermark=0.3f",
    "hadoop.security.kms.client.encrypted.key.cache.num.refill.threads=2",
    "hadoop.security.kms.client.encrypted.key.cache.size=500",
    "hadoop.security.kms.client.failover.max.retries",
    "hadoop.security.kms.client.failover.sleep.base.millis=100",
    "hadoop.security.kms.client.failover.sleep.max.millis=2000",
    "hadoop.security.kms.client.timeout=60", NULL,
};

static const char *const groups_keys[] = {
    "hadoop.security.groups.cache.background.reload=false",
    "hadoop.security.groups.cache.background.reload.threads=3",
    "hadoop.security.groups.cache.warn.after.ms=5000",
    "hadoop.security.groups.shell.command.timeout=0s", "hadoop.security.uid.cache.secs=14400", NULL,
};

static const char *const instrumentation_keys[] = {
    "hadoop.security.instrumentation.requires.admin=false", NULL,
};

static const char *const password_keys[] = {
    "fs.s3a.security.credential.provider.path", "hadoop.security.credential.provider.path",
    "hadoop.security.credential.clear-text-fallback=true",
    "hadoop.security.credstore.java-keystore-provider.password-file", NULL,
};

static const char *const truststore_keys[] = {
    "hadoop.ssl.client.conf=ssl-client.xml", "hadoop.ssl.hostname.verifier=DEFAULT", NULL,
};

static const char *const web_keys[] = {
    "hadoop.http.authentication.token.max-inactive-interval=-1", NULL,
};

const struct nm_key_group nm_key_groups[] = {
    { NM_KEY_NO_MEANING, "there is no docker or runC runtime; a container that requests one is refused", docker_keys },
    { NM_KEY_NO_MEANING, "Java's sandbox; here selvedge.nodemanager.sandbox.profile", sandbox_keys },
    { NM_KEY_NO_MEANING, "of Windows", windows_keys },
    { NM_KEY_NO_MEANING, "cgroup v2 limits are always set, below selvedge.nodemanager.cgroup.root", cgroups_keys },
    { NM_KEY_NO_MEANING, "containers are always started by our container-executor (selvedge.nodemanager.executor.path)", executor_keys },
    { NM_KEY_NO_MEANING, "the localizer is a process of ours without a port", localizer_keys },
    { NM_KEY_NO_MEANING, "of the Java daemon", java_keys },
    { NM_KEY_NO_MEANING, "of the ResourceManager", other_keys },
    { NM_KEY_NOT_DONE, "manifest of auxiliary services", aux_keys },
    { NM_KEY_NOT_DONE, "log aggregation: deletion of old logs", aggregation_keys },
    { NM_KEY_NOT_DONE, "deletion of logs by size, debugging information of failures alone, encryption of intermediate data", logs_keys },
    { NM_KEY_NOT_DONE, "timeline service", timeline_keys },
    { NM_KEY_NOT_DONE, "devices other than GPUs", devices_keys },
    { NM_KEY_NO_MEANING, "selvedge-gss logs in by the keytab and renews by its own rules, refused logins are repeated until they succeed; _HOST is yarn.nodemanager.hostname", kerberos_keys },
    { NM_KEY_NO_MEANING, "of the ResourceManager and of administrators' commands: nobody acts for others at a NodeManager", callers_keys },
    { NM_KEY_NO_MEANING, "a token is found by its service's address and by its name", token_keys },
    { NM_KEY_NO_MEANING, "of the NameNode and the DataNodes, which tell their clients", hdfs_keys },
    { NM_KEY_NO_MEANING, "OpenSSL's AES and 3DES are used, as HDFS asks for them", cipher_keys },
    { NM_KEY_NO_MEANING, "keys of encryption zones are asked for one by one, with limits of the client's own", kms_keys },
    { NM_KEY_NO_MEANING, "groups are asked of the name service on a thread, for ten seconds at most", groups_keys },
    { NM_KEY_NO_MEANING, "hadoop.http.authentication says who gets /jmx, /conf and /metrics, as all other paths", instrumentation_keys },
    { NM_KEY_NOT_DONE, "passwords in credential providers (jceks:): set them in ssl-server.xml and core-site.xml", password_keys },
    { NM_KEY_NOT_DONE, "a truststore of the node's own as a client: certificates of https servers are checked by the machine's authorities", truststore_keys },
    { NM_KEY_NOT_DONE, "cookies of the web server end by hadoop.http.authentication.token.validity alone", web_keys },
    { 0 },
};
/* clang-format on */
