import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.ipc.Server;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.yarn.api.records.LocalResource;
import org.apache.hadoop.yarn.api.records.LocalResourceType;
import org.apache.hadoop.yarn.api.records.LocalResourceVisibility;
import org.apache.hadoop.yarn.api.records.URL;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.ipc.YarnRPC;
import org.apache.hadoop.yarn.server.nodemanager.api.LocalizationProtocol;
import org.apache.hadoop.yarn.server.nodemanager.api.ResourceLocalizationSpec;
import org.apache.hadoop.yarn.server.nodemanager.api.protocolrecords.LocalResourceStatus;
import org.apache.hadoop.yarn.server.nodemanager.api.protocolrecords.LocalizerAction;
import org.apache.hadoop.yarn.server.nodemanager.api.protocolrecords.LocalizerHeartbeatResponse;
import org.apache.hadoop.yarn.server.nodemanager.api.protocolrecords.LocalizerStatus;
import org.apache.hadoop.yarn.server.nodemanager.api.protocolrecords.ResourceStatusType;
import org.apache.hadoop.yarn.util.Records;

/** The NodeManager's side of Apache's ContainerLocalizer for bench-localize: LocalizationProtocol without tokens. Prints
 * "ready PORT"; then a job a line, "FILE|ARCHIVE DIRECTORY TOKENS URL...": writes the file of tokens, answers "go", gives one
 * resource a heartbeat as the NodeManager does and says "done" or "failed WHY". Ends with its standard input. */
public final class LocalizerServe implements LocalizationProtocol {
  private final PrintStream answers;
  private final Queue<ResourceLocalizationSpec> waiting = new ArrayDeque<>();
  private int missing;

  private LocalizerServe(PrintStream answers) {
    this.answers = answers;
  }

  private static ResourceLocalizationSpec spec(Configuration conf, LocalResourceType type, String directory, String url)
      throws Exception {
    Path path = new Path(url);
    FileStatus status = FileSystem.get(path.toUri(), conf).getFileStatus(path);
    ResourceLocalizationSpec spec = Records.newRecord(ResourceLocalizationSpec.class);
    spec.setResource(LocalResource.newInstance(URL.fromPath(path), type, LocalResourceVisibility.APPLICATION,
        status.getLen(), status.getModificationTime()));
    spec.setDestinationDirectory(URL.fromPath(new Path(directory)));
    return spec;
  }

  private synchronized void job(Configuration conf, String[] words) throws Exception {
    waiting.clear();
    for (int i = 3; i < words.length; i++) {
      waiting.add(spec(conf, LocalResourceType.valueOf(words[0]), words[1] + "/" + i, words[i]));
    }
    missing = waiting.size();
    new Credentials().writeTokenStorageFile(new Path("file://" + words[2]), conf);
    answers.println("go");
  }

  @Override
  public synchronized LocalizerHeartbeatResponse heartbeat(LocalizerStatus status) {
    List<ResourceLocalizationSpec> next = Collections.emptyList();
    for (LocalResourceStatus s : status.getResources()) {
      if (s.getStatus() == ResourceStatusType.FETCH_FAILURE) {
        answers.println("failed " + s.getException().getMessage());
      } else if (s.getStatus() == ResourceStatusType.FETCH_SUCCESS && --missing == 0) {
        answers.println("done");
      }
    }
    if (!waiting.isEmpty()) {
      next = new ArrayList<>(Collections.singletonList(waiting.remove()));
    }
    LocalizerHeartbeatResponse answer = Records.newRecord(LocalizerHeartbeatResponse.class);
    answer.setLocalizerAction(missing == 0 ? LocalizerAction.DIE : LocalizerAction.LIVE);
    answer.setResourceSpecs(next);
    return answer;
  }

  public static void main(String[] args) throws Exception {
    PrintStream answers = System.out;
    Configuration conf = new YarnConfiguration();
    LocalizerServe service = new LocalizerServe(answers);
    Server server = YarnRPC.create(conf).getServer(LocalizationProtocol.class, service,
        new InetSocketAddress("127.0.0.1", 0), conf, null, 1);
    server.start();
    answers.println("ready " + server.getListenerAddress().getPort());
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      service.job(conf, line.split(" "));
    }
    System.exit(0);
  }
}
