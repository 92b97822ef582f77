import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.Collections;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.ShuffleHandler;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.server.api.ApplicationInitializationContext;
import org.apache.hadoop.yarn.util.ConverterUtils;

/** Apache's ShuffleHandler by itself, without a NodeManager around it: ShuffleServe LOCALDIR USER APPLICATION-ID TOKEN
 * [KEY=VALUE]... Prints "ready PORT" and ends with its standard input. Compiles against Hadoop 2.10 to 3.5. */
public class ShuffleServe {
  @SuppressWarnings("deprecation") // of Hadoop 3; 2.10 has no other
  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    conf.set("yarn.nodemanager.local-dirs", args[0]);
    for (int i = 4; i < args.length; i++) {
      String[] pair = args[i].split("=", 2);
      conf.set(pair[0], pair[1]);
    }
    ShuffleHandler handler = new ShuffleHandler();
    setLocalDirectory(handler, args[0]);
    handler.init(conf);
    handler.start();
    ApplicationId id = ConverterUtils.toApplicationId(args[2]);
    handler.initializeApplication(
        new ApplicationInitializationContext(args[1], id, ByteBuffer.wrap(Base64.getDecoder().decode(args[3]))));
    System.out.println("ready " + handler.getMetaData().getInt());
    System.out.flush();
    while (System.in.read() >= 0) {
    }
    System.exit(0);
  }

  /** What the NodeManager of Hadoop 3 gives its services: paths in its local directories, of which there is one. */
  private static void setLocalDirectory(ShuffleHandler handler, String root) throws Exception {
    for (Method m : handler.getClass().getMethods()) {
      if (m.getName().equals("setAuxiliaryLocalPathHandler")) {
        Class<?> type = m.getParameterTypes()[0];
        m.invoke(handler, Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> {
          Path path = new Path(root, (String) args[0]);
          return method.getReturnType() == Path.class ? path : Collections.singletonList(path);
        }));
      }
    }
  }
}
