"""What a MapReduce job has beside its shuffle: files of the client under another name, its master's
pages through the ResourceManager, and its history."""
import json
import urllib.request

from cluster import ClusterError
from interop.cases import mapreduce
from interop.cases.mapreduce_failures import MAPS, Counting

FILE, LINK = "options-of-the-client", "options-of-maps"


def read(url):
    """Where redirects lead to, and what is there."""
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.geturl(), answer.read().decode()


def beside(c, h):
    """Maps start with options from a file of the client's (`-files x#y`): without it a map's JVM
    does not start. The master's page and its REST while the reducers wait, the history
    afterwards."""
    with open(f"{c.root}/tmp/{FILE}", "w", encoding="ascii") as f:
        f.write(mapreduce.SMALL)
    files = ["-files", f"file://{c.root}/tmp/{FILE}#{LINK}", f"-Dmapreduce.map.java.opts=@{LINK}"]
    with Counting(c, h, "beside", files) as job:
        wanted = f"job_{job.application.removeprefix('application_')}"
        master_pages(c, job.application, wanted)
        job.go_on()
        job.right()
    history(c, h, wanted)


def master_pages(c, application, wanted):
    at, page = read(f"{c.rm_url}/proxy/{application}/")
    if not at.endswith(f"/proxy/{application}/mapreduce") or wanted not in page:
        raise ClusterError(f"the master's page at {at}: {page[:2000]}")
    _, text = read(f"{c.rm_url}/proxy/{application}/ws/v1/mapreduce/jobs")
    jobs = [
        (job["id"], job["state"], job["mapsCompleted"]) for job in json.loads(text)["jobs"]["job"]
    ]
    if jobs != [(wanted, "RUNNING", MAPS)]:
        raise ClusterError(f"the master's REST: {text}")


def history(c, h, wanted):
    """The ResourceManager's link of the ended job leads to the JobHistoryServer, which shows the
    job and has moved its two files."""
    at, page = read(f"{c.rm_url}/proxy/{wanted.replace('job', 'application')}/")
    if (
        not at.endswith(f":{c.history_web_port}/jobhistory/job/{wanted}") or wanted not in page
    ):  # the host by its name
        raise ClusterError(f"the link of {wanted} leads to {at}: {page[:2000]}")
    url = f"http://{c.address}:{c.history_web_port}/ws/v1/history/mapreduce/jobs"
    jobs = {
        job["id"]: (job["state"], job["mapsCompleted"])
        for job in json.loads(read(url)[1])["jobs"]["job"]
    }
    if jobs.get(wanted) != ("SUCCEEDED", MAPS):
        raise ClusterError(f"JobHistoryServer: {wanted} among {jobs}")

    def moved():
        names = [
            name for name in h.ask("list", "/user/history/done").split() if name.startswith(wanted)
        ]
        return [name for name in names if name.endswith(".jhist")] and f"{wanted}_conf.xml" in names

    c.wait(moved, 60, f"the files of {wanted} are below /user/history/done")
