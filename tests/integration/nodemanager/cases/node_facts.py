"""What a node is: its hardware, resource types, label and attributes, as it tells them to its
ResourceManager and to web clients. Cases of test-real-settings."""
import os
import signal

from lib.nm_driver import YARN, container
from lib.worker_machine import WorkerMachine

RESOURCE = "yarn.nodemanager.resource."
LABELS = "yarn.nodemanager.node-labels."
ATTRIBUTES = "yarn.nodemanager.node-attributes."


class NodeFacts(WorkerMachine):
    def own_figures(self):
        """What REST shows beside Hadoop's fields."""
        return self.node.get("/ws/v1/node/info")["nodeInfo"]["selvedge"]

    def detected_hardware(self):
        answer = self.restart(
            {
                RESOURCE + "memory-mb": None,
                RESOURCE + "cpu-vcores": None,
                RESOURCE + "detect-hardware-capabilities": "true",
                RESOURCE + "system-reserved-memory-mb": "100",
                RESOURCE + "count-logical-processors-as-cores": "true",
                RESOURCE + "pcores-vcores-multiplier": "2",
            }
        )
        memory, processors = answer["physical"]
        assert answer["memory"] == memory - 100 and answer["vcores"] == 2 * processors, answer
        assert processors <= os.cpu_count(), answer
        assert f"hardware: {memory} MB, {processors} processors" in self.log()
        told = self.refused(
            {
                RESOURCE + "memory-mb": None,
                RESOURCE + "detect-hardware-capabilities": "true",
                RESOURCE + "system-reserved-memory-mb": "1000000000",
            }
        )
        assert "none are left for containers" in told, told

    def resource_types(self):
        """Amounts are in the unit of resource-types.xml; a container with more than the node has,
        or of a type that it lacks, is refused."""
        types = {
            "yarn.resource-types": "licenses,example.com/disk",
            "yarn.resource-types.example.com/disk.units": "Gi",
        }
        answer = self.restart(
            {
                **types,
                "yarn.nodemanager.resource-type.licenses": "5",
                "yarn.nodemanager.resource-type.example.com/disk": "2Ti",
            }
        )
        assert answer["types"] == {"licenses": [5, ""], "example.com/disk": [2048, "Gi"]}, answer
        info = self.node.get("/ws/v1/node/info")["nodeInfo"]
        assert (
            info["resourceTypes"]
            == "memory-mb (unit=Mi), vcores, licenses, example.com/disk (unit=Gi)"
        ), info
        app = self.new_app()
        self.driver.start(app, 1, 1, self.user, "sleep 1000", "type:licenses=3")
        self.driver.start(app, 2, 1, self.user, "sleep 1000", "type:example.com/disk=1,Ti")
        self.wait(lambda: len(self.running()) == 2, "they run")
        rows = {r["name"]: (r["given"], r["total"]) for r in self.own_figures()["resourceTypes"]}
        assert rows == {"licenses": (3, 5), "example.com/disk": (1024, 2048)}, rows
        row = self.driver.start(app, 3, 1, self.user, "true", "type:licenses=6")
        row = row["failed"][container(app, 3)]
        assert (
            row["class"] == YARN + "YarnException"
            and row["message"]
            == f"Container {container(app, 3)}: it has 6 of licenses, this NodeManager 5"
        ), row
        row = self.driver.start(app, 4, 1, self.user, "true", "type:example.com/disk=3,Pi")
        assert "3145728Gi of example.com/disk" in row["failed"][container(app, 4)]["message"], row
        self.driver("finish", app)
        told = self.refused({**types, "yarn.nodemanager.resource-type.fpga": "1"})
        assert "resource-type.fpga: the type is not in yarn.resource-types" in told, told

    def label_of_configuration(self):
        """Told at the registration, again only when a reload has changed it; the ResourceManager's
        refusal is logged once and shown."""
        site = {
            LABELS + "provider": "config",
            LABELS + "provider.configured-node-partition": "gpu",
            ATTRIBUTES + "provider": "config",
            ATTRIBUTES + "provider.configured-node-attributes": "os,STRING,linux:rev,STRING,6.1",
        }
        answer = self.restart(site)
        assert answer["labels"] == ["gpu"], answer
        assert answer["attributes"] == {"nm.yarn.io/os": "linux", "nm.yarn.io/rev": "6.1"}, answer
        told = self.driver("described")["told"]
        assert self.driver("beats", 60000, 3)["reached"]
        assert self.driver("described")["told"] == told, "it is told again"
        shown = self.own_figures()["nodeLabels"]
        assert shown["list"] == [{"name": "gpu"}] and shown["accepted"] is True, shown
        self.driver("labels", "refuse", "no label ssd in this cluster")
        site[LABELS + "provider.configured-node-partition"] = "ssd"
        self.node.site = {**self.usual, **site}
        self.node.write_conf()
        self.node.process.process.send_signal(signal.SIGHUP)
        self.wait(
            lambda: self.driver("beats", 60000, 1)["reached"]
            and self.driver("described")["labels"] == ["ssd"],
            "the new label",
        )
        self.wait(lambda: self.own_figures()["nodeLabels"]["accepted"] is False, "refused")
        assert self.own_figures()["nodeLabels"]["refused"] == "no label ssd in this cluster"
        assert self.own_figures()["nodeAttributes"]["accepted"] is True
        self.driver("resync")
        assert self.driver.registered()["labels"] == ["ssd"]
        self.driver("labels", "accept")
        words = "node-labels: refused by the ResourceManager: no label ssd in this cluster"
        assert self.log().count(words) == 1, self.node.process.tail(20)

    def label_of_script(self):
        """The node registers with what the first run says. Later runs change it, and those that
        fail, hang with a child or print without end do not."""
        script = f"{self.c.root}/tmp/label.sh"

        def write(text):
            with open(f"{script}.new", "w", encoding="ascii") as f:
                f.write(f"#!/bin/sh\n{text}\n")
            os.chmod(f"{script}.new", 0o755)
            os.rename(f"{script}.new", script)

        def failed(words):
            self.wait(
                lambda: words in self.own_figures()["nodeLabels"]["failed"],
                words,
            )
            assert self.driver("described")["labels"] == ["b"], "the label stays"

        write('sleep 0.2; echo "NODE_PARTITION:$1"')
        answer = self.restart(
            {
                LABELS + "provider": "script",
                LABELS + "provider.script.path": script,
                LABELS + "provider.script.opts": "a",
                LABELS + "provider.fetch-interval-ms": "100",
                LABELS + "provider.fetch-timeout-ms": "1000",
                LABELS + "resync-interval-ms": "300",
            }
        )
        assert answer["labels"] == ["a"] and answer["attributes"] is None, answer
        told = self.driver("described")["told"]
        self.wait(lambda: self.driver("described")["told"] > told + 1, "resync")
        write("echo noise; echo ' NODE_PARTITION: b '; echo NODE_ATTRIBUTE:x,STRING,y")
        self.wait(lambda: self.driver("described")["labels"] == ["b"], "b")
        write("echo NODE_PARTITION:c; exit 3")
        failed("exited with status 3")
        write("echo NODE_PARTITION:-c")
        failed('"-c": a label')
        write("while :; do echo NODE_PARTITION:c; done")
        failed("it printed more than 65536 bytes")
        child = f"{self.c.root}/tmp/label-child"
        os.makedirs(child, 0o777, exist_ok=True)
        os.chmod(child, 0o777)
        write(f"sleep 1000 & echo $! >{child}/pid.new; mv {child}/pid.new {child}/pid; sleep 1000")
        failed("it did not end within 1000 ms")
        with open(f"{child}/pid", encoding="ascii") as f:
            pid = int(f.read())
        write("echo nothing of mine")
        self.wait(lambda: self.driver("described")["labels"] == [], "none")
        self.wait(lambda: not self.is_sleep(pid), "its child ends with it")
        told = self.refused({LABELS + "provider": "org.example.Labels"})
        assert "a class of Java cannot run in this daemon" in told, told
        os.chmod(script, 0o757)
        told = self.refused(
            {LABELS + "provider": "script", LABELS + "provider.script.path": script}
        )
        assert "can be changed by every account" in told, told

    @staticmethod
    def is_sleep(pid):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                return f.read().startswith(b"sleep\0")
        except OSError:
            return False
