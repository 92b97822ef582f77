"""Configurations that were written for Hadoop: keys that we read otherwise, refuse or do not read,
and the files of real clusters. Cases of test-real-settings."""
import os
import re
import signal
import subprocess

from lib.worker_machine import WorkerMachine


class HadoopConfigurations(WorkerMachine):
    def keys_of_hadoop(self):
        """Hadoop's container-executor is not ours, whatever path a file of Apache's NodeManager
        names."""
        theirs = f"{self.c.root}/tmp/container-executor"
        with open(theirs, "w", encoding="ascii") as f:
            f.write("Hadoop's\n")
        self.restart(
            {
                "yarn.nodemanager.linux-container-executor.path": theirs,
                "yarn.nodemanager.localizer.fetch.thread-count": "20",
            }
        )
        row = self.one("exit 3")
        assert row["exit"] == 3, row
        told = self.refused({"yarn.nodemanager.localizer.fetch.thread-count": "65"})
        assert (
            'yarn.nodemanager.localizer.fetch.thread-count is "65": expected a whole '
            "number from 1 to 64" in told
        ), told
        self.node.site = dict(self.usual)

    def unsafe_silence(self):
        """What promises a protection that is not there keeps the daemon from starting, with file,
        key and remedy."""
        for key, value, words in (
            ("hadoop.http.authentication.type", "kerberos", "only cookies that another daemon"),
            ("hadoop.http.authentication.type", "org.example.Handler", "simple and kerberos"),
            ("hadoop.http.filter.initializers", "org.example.Strict", "org.example.Strict is not"),
            ("yarn.nodemanager.amrmproxy.ha.enable", "true", "in the NodeManager's store"),
            (
                "yarn.nodemanager.container-executor.class",
                "org.example.Executor",
                "LinuxContainerExecutor accepts that",
            ),
            (
                "yarn.nodemanager.runtime.linux.allowed-runtimes",
                "docker,runc",
                "has the runtime `default` alone",
            ),
            ("yarn.nodemanager.runtime.linux.type", "docker", "has the runtime `default` alone"),
            (
                "yarn.nodemanager.container-executor.os.sched.priority.adjustment",
                "-5",
                "a job's priority can only be lowered, by 0 to 19",
            ),
            (
                "hadoop.security.group.mapping",
                "org.apache.hadoop.security.CompositeGroupsMapping",
                "those of another source would be missing",
            ),
        ):
            told = self.check_config({key: value}, 1)
            assert told.count("refused: ") == 1 and key in told and words in told, told
        told = self.refused({"yarn.nodemanager.runtime.linux.type": "docker"})
        assert "yarn-site.xml:" in told and 'linux.type is "docker"' in told, told
        self.check_config({"yarn.nodemanager.runtime.linux.allowed-runtimes": "default,docker"}, 0)

    def unread_keys(self):
        """Each key that has no effect is named with the reason, one that nobody knows with the
        nearest name."""
        site = {
            "hadoop.http.authentication.token.max-inactive-interval": "60",
            "yarn.nodemanager.delete.thread-count": "7",
            "yarn.nodemanager.webapp.https.address": "0.0.0.0:8044",  # Hadoop's default
            "yarn.nodemanager.aux-services.manifest": "/etc/aux.json",
            "yarn.nodemanager.vmem-check-enabled": "true",
            "yarn.nodemanager.local-dir": "/x",
            "selvedge.nodemanager.container.pid.max": "5",
            "yarn.nodemanager.something-quite-different": "1",
            "yarn.resourcemanager.scheduler.class": "x",
        }
        told = self.check_config(site, 0).splitlines()
        listed = [line for line in told if line.startswith(("not done", "without", "unknown"))]
        with open(f"{self.node.conf_dir}/yarn-site.xml", encoding="utf-8") as f:
            lines = f.read().splitlines()
        for name, number in re.findall(r"([\w.-]+) \(yarn-site.xml:(\d+)\)", "\n".join(listed)):
            assert f"<name>{name}</name>" in lines[int(number) - 1], (name, number)
        listed = [re.sub(r" \(yarn-site.xml:\d+\)", "", line, count=1) for line in listed]
        assert listed == [
            (
                "unknown: selvedge.nodemanager.container.pid.max; is "
                "selvedge.nodemanager.container.pids.max meant?"
            ),
            "unknown: yarn.nodemanager.local-dir; is yarn.nodemanager.local-dirs meant?",
            "unknown: yarn.nodemanager.something-quite-different",
            "without meaning here (containers are always started by our container-executor "
            "(selvedge.nodemanager.executor.path)): "
            "yarn.nodemanager.linux-container-executor.group",
            (
                "without meaning here (the localizer is a process of ours without a port): "
                "yarn.nodemanager.localizer.address"
            ),
            "without meaning here (of the Java daemon): yarn.nodemanager.delete.thread-count",
            "not done (manifest of auxiliary services): " "yarn.nodemanager.aux-services.manifest",
            "not done (cookies of the web server end by "
            "hadoop.http.authentication.token.validity alone): "
            "hadoop.http.authentication.token.max-inactive-interval",
        ], told
        self.restart(site)
        info = self.node.get("/ws/v1/node")["nodeInfo"]
        assert (info["vmemCheckEnabled"], info["pmemCheckEnabled"]) == (True, True), info
        words = (
            "configuration: 2 keys of features that this version lacks, 3 without meaning here, 3 "
            "unknown: selvedge.nodemanager.container.pid.max (is "
            "selvedge.nodemanager.container.pids.max meant?), yarn.nodemanager.local-dir (is "
            "yarn.nodemanager.local-dirs meant?), yarn.nodemanager.something"
        )
        assert self.log().count(words) == 1, self.node.process.tail(8)
        doctor = subprocess.run(
            [f"{self.c.prefix}/bin/selvedge", "--conf", self.node.conf_dir, "doctor"],
            cwd="/",
            env=self.c.daemon_env(self.node.conf_dir, "doctor"),
            capture_output=True,
            text=True,
        )
        for words in (
            "alone: hadoop.http.authentication.token.max-inactive-interval",
            "yarn.nodemanager.local-dir: no such key; is yarn.nodemanager.local-dirs meant?",
        ):
            assert words in doctor.stdout, doctor.stdout

    def write_policy(self, hosts):
        with open(f"{self.node.conf_dir}/hadoop-policy.xml", "w", encoding="utf-8") as f:
            f.write(
                "<configuration><property>"
                "<name>security.containermanagement.protocol.hosts</name>"
                f"<value>{hosts}</value></property></configuration>\n"
            )

    def service_policy(self):
        """hadoop-policy.xml says from where 8041 is reached, with Hadoop's exception; a reload
        reads it again, and keeps the old one where the new is wrong."""
        on = {"hadoop.security.authorization": "true"}
        self.write_policy("10.255.255.1")
        self.restart(on)
        app = self.new_app()
        answer = self.driver.start(app, 1, 1, self.user, "exit 3")
        assert answer.get("class", "").endswith(".AuthorizationException"), answer
        assert re.search(
            r"Host [\d.]+ is not authorized for protocol interface org\.apache\.hadoop\.yarn\.api\."
            "ContainerManagementProtocolPB",
            answer["message"],
        ), answer
        self.wait(lambda: "refused: Host" in self.log(), "its line in the log")
        for hosts, words in (
            ("worker7.example", "hadoop-policy.xml:1: security.containermanagement"),
            ("127.0.0.0/8,10.99.7.7", "configuration: read again"),
        ):
            self.write_policy(hosts)
            self.node.process.process.send_signal(signal.SIGHUP)
            self.wait(lambda words=words: words in self.log(), words)
        assert self.one("exit 3", app)["exit"] == 3
        self.driver("finish", app)
        self.write_policy("worker7.example")
        told = self.check_config(on, 1)
        assert told.count("refused: ") == 1 and "names are not looked up" in told, told
        os.unlink(f"{self.node.conf_dir}/hadoop-policy.xml")

    def four_configurations(self):
        """Files of two vendors' shapes, of plain Apache and the least possible: each is judged in
        one screen, and the daemon starts with it under the machine's name."""
        for name, site in self.real_files():
            told = self.check_config(site, 0)
            assert len(told.splitlines()) < 24 and max(map(len, told.splitlines())) < 2000, (
                name,
                told,
            )
            answer = self.restart(site)
            assert answer["host"] == "worker7.example", (name, answer)
            assert self.one("exit 4")["exit"] == 4, name

    def real_files(self):
        """(name, keys). None takes away what the fixture sets; directories,
        the helper's keys and what this machine cannot do stay the fixture's."""
        nm, lce = "yarn.nodemanager.", "yarn.nodemanager.linux-container-executor."
        apache, spark = (
            "org.apache.hadoop.yarn.server.nodemanager.",
            "org.apache.spark.network.yarn.",
        )
        usual = {
            nm + "hostname": None,
            nm + "bind-host": None,
            nm + "localizer.address": None,
            nm + "webapp.address": "0.0.0.0:8042",
            nm + "vmem-check-enabled": None,
            lce + "group": None,
        }
        first = {
            **usual,
            nm + "address": "0.0.0.0:45454",
            nm + "bind-host": "0.0.0.0",
            nm + "admin-env": "MALLOC_ARENA_MAX=$MALLOC_ARENA_MAX",
            nm + "aux-services": "mapreduce_shuffle,spark2_shuffle",
            nm + "aux-services.mapreduce_shuffle.class": "org.apache.hadoop.mapred.ShuffleHandler",
            nm + "aux-services.spark2_shuffle.class": spark + "YarnShuffleService",
            nm + "aux-services.spark2_shuffle.classpath": "/usr/vendor/spark2/aux/*",
            nm + "container-executor.class": apache + "LinuxContainerExecutor",
            nm + "container-metrics.unregister-delay-ms": "60000",
            nm + "container-monitor.interval-ms": "3000",
            nm + "delete.debug-delay-sec": "0",
            nm + "health-checker.interval-ms": "135000",
            nm + "health-checker.script.timeout-ms": "60000",
            nm + "health-checker.script.path": "/etc/hadoop/conf/health_check",
            nm + "kill-escape.launch-command-line": "slider-agent,LLAP",
            nm + "kill-escape.user": "hive",
            lce + "cgroups.hierarchy": "/yarn",
            lce + "cgroups.mount": "false",
            lce + "cgroups.mount-path": "/cgroup",
            lce + "cgroups.strict-resource-usage": "false",
            lce + "group": "hadoop",
            lce + "resources-handler.class": apache + "util.CgroupsLCEResourcesHandler",
            nm + "log-aggregation.compression-type": "gz",
            nm + "log-aggregation.num-log-files-per-app": "336",
            nm + "log.retain-seconds": "604800",
            nm + "remote-app-log-dir": "/app-logs",
            nm + "recovery.enabled": "true",
            nm + "resource.percentage-physical-cpu-limit": "100",
            nm + "resourcemanager.connect.retry-interval.ms": "300",
            nm + "vmem-pmem-ratio": "2.1",
            "yarn.log-aggregation-enable": "true",
            "yarn.log.server.url": "http://rm.example:19888/jobhistory/logs",
            "yarn.http.policy": "HTTP_ONLY",
            "yarn.acl.enable": "false",
            "yarn.timeline-service.enabled": "true",
            "yarn.node-labels.enabled": "false",
            "yarn.authorization-provider": "",
        }
        second = {
            **usual,
            nm + "address": "0.0.0.0:8041",
            nm + "aux-services": "mapreduce_shuffle",
            nm + "aux-services.mapreduce_shuffle.class": "org.apache.hadoop.mapred.ShuffleHandler",
            nm + "container-executor.class": apache + "LinuxContainerExecutor",
            lce + "path": "/opt/vendor/lib/hadoop-yarn/bin/container-executor",
            lce + "group": "yarn",
            lce + "resources-handler.class": apache + "util.DefaultLCEResourcesHandler",
            nm + "localizer.client.thread-count": "5",
            nm + "localizer.fetch.thread-count": "20",
            nm + "container-manager.thread-count": "20",
            nm + "delete.thread-count": "4",
            nm + "heartbeat.interval-ms": "1000",
            nm + "health-checker.scripts": "script",
            nm + "health-checker.script.path": "/opt/vendor/health.sh",
            nm + "webapp.https.address": "0.0.0.0:8044",
            nm + "webapp.cross-origin.enabled": "true",
            nm + "resource.detect-hardware-capabilities": "true",
            nm + "recovery.supervised": "true",
            nm + "log-aggregation.roll-monitoring-interval-seconds": "3600",
            "yarn.acl.enable": "true",
            "yarn.admin.acl": "yarn",
            "hadoop.security.authorization": "true",
            "yarn.log-aggregation-enable": "true",
        }
        apache = {
            **usual,
            nm + "aux-services": "mapreduce_shuffle",
            nm + "address": "0.0.0.0:8041",
            nm + "env-whitelist": "JAVA_HOME,HADOOP_COMMON_HOME,HADOOP_HDFS_HOME,HADOOP_CONF_DIR,"
            "CLASSPATH_PREPEND_DISTCACHE,HADOOP_YARN_HOME,HADOOP_HOME,PATH,LANG,TZ,"
            "HADOOP_MAPRED_HOME",
        }
        least = {**usual, nm + "address": None, nm + "webapp.address": None}
        return (
            ("vendor with bind-host", first),
            ("vendor with authorization", second),
            ("plain Apache", apache),
            ("minimal", least),
        )
