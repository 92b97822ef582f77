import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Collections;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.records.ApplicationAccessType;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.logaggregation.AggregatedLogFormat.LogKey;
import org.apache.hadoop.yarn.logaggregation.AggregatedLogFormat.LogValue;
import org.apache.hadoop.yarn.logaggregation.filecontroller.LogAggregationFileControllerContext;
import org.apache.hadoop.yarn.logaggregation.filecontroller.tfile.LogAggregationTFileController;

/** What Apache's NodeManager runs to aggregate one application's logs, without the NodeManager: a line "ROOT CODEC APPLICATION DIRS"
 * of standard input is answered by "WALL-US CPU-US BYTES PEAK-KIB". Ends with its standard input. */
public final class LogAggregate {
  private LogAggregate() { }

  private static long cpu() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime() / 1000;
  }

  private static String peak() throws Exception {
    for (String line : Files.readAllLines(Paths.get("/proc/self/status"))) {
      if (line.startsWith("VmHWM")) {
        return line.replaceAll("[^0-9]", "");
      }
    }
    return "0";
  }

  private static long aggregate(String root, String codec, ApplicationId app, String[] dirs) throws Exception {
    Configuration conf = new Configuration();
    conf.set("yarn.nodemanager.remote-app-log-dir", root);
    conf.set("yarn.nodemanager.log-aggregation.compression-type", codec);
    UserGroupInformation user = UserGroupInformation.createRemoteUser("alice");
    NodeId node = NodeId.newInstance("node1", 8041);
    LogAggregationTFileController c = new LogAggregationTFileController();
    c.initialize(conf, "TFile");
    c.createAppDir("alice", app, user);
    Path file = c.getRemoteNodeLogFileForApp(app, "alice", node);
    LogAggregationFileControllerContext context = new LogAggregationFileControllerContext(file, new Path(file + ".tmp"), false, -1, app,
        Collections.singletonMap(ApplicationAccessType.VIEW_APP, " "), node, user);
    TreeSet<String> containers = new TreeSet<>();
    for (String dir : dirs) {
      containers.addAll(Arrays.asList(new File(dir, app.toString()).list()));
    }
    c.initializeWriter(context);
    for (String id : containers) {
      ContainerId container = ContainerId.fromString(id);
      c.write(new LogKey(container), new LogValue(Arrays.asList(dirs), container, "alice"));
    }
    context.setUploadedLogsInThisCycle(true);
    context.setLogUploadTimeStamp(System.currentTimeMillis());
    context.increLogAggregationTimes();
    c.postWrite(context);
    c.closeWriter();
    return file.getFileSystem(conf).getFileStatus(file).getLen();
  }

  public static void main(String[] args) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] w = line.split(" ");
      long began = System.nanoTime();
      long before = cpu();
      long bytes = aggregate(w[0], w[1], ApplicationId.fromString(w[2]), w[3].split(","));
      System.out.println((System.nanoTime() - began) / 1000 + " " + (cpu() - before) + " " + bytes + " " + peak());
    }
    FileSystem.closeAll();
  }
}
