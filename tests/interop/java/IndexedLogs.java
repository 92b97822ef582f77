import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.records.ApplicationAccessType;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.logaggregation.AggregatedLogFormat.LogKey;
import org.apache.hadoop.yarn.logaggregation.AggregatedLogFormat.LogValue;
import org.apache.hadoop.yarn.logaggregation.filecontroller.LogAggregationFileControllerContext;
import org.apache.hadoop.yarn.logaggregation.filecontroller.ifile.LogAggregationIndexedFileController;

/** Writes an IndexedFile as Hadoop's NodeManager does: ROOT APPLICATION COMPRESSION LOGDIR CONTAINER...; LOGDIR/APPLICATION
 *  has the containers' directories. Its place is printed. */
public final class IndexedLogs {
  private IndexedLogs() { }

  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    conf.set("yarn.nodemanager.remote-app-log-dir", "file://" + args[0]);
    conf.set("yarn.nodemanager.log-aggregation.compression-type", args[2]);
    conf.set("fs.defaultFS", "file:///");
    ApplicationId app = ApplicationId.fromString(args[1]);
    UserGroupInformation user = UserGroupInformation.createRemoteUser("alice");
    NodeId node = NodeId.newInstance("node1", 8041);
    LogAggregationIndexedFileController c = new LogAggregationIndexedFileController();
    c.initialize(conf, "IFile");
    Path file = c.getRemoteNodeLogFileForApp(app, "alice", node);
    file.getFileSystem(conf).mkdirs(file.getParent());
    Map<ApplicationAccessType, String> acls = new HashMap<>();
    acls.put(ApplicationAccessType.VIEW_APP, "alice,bob");
    acls.put(ApplicationAccessType.MODIFY_APP, " ");
    LogAggregationFileControllerContext context = new LogAggregationFileControllerContext(
        file, new Path(file + ".tmp"), false, -1, app, acls, node, user);
    c.initializeWriter(context);
    for (String id : Arrays.copyOfRange(args, 4, args.length)) {
      ContainerId container = ContainerId.fromString(id);
      c.write(new LogKey(container),
          new LogValue(Arrays.asList(args[3].split(",")), container, System.getProperty("user.name")));
    }
    context.setUploadedLogsInThisCycle(true);
    c.postWrite(context);
    c.closeWriter();
    System.out.println(file.toUri().getPath());
  }
}
