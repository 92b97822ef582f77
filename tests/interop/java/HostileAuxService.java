import java.nio.ByteBuffer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.api.ApplicationInitializationContext;
import org.apache.hadoop.yarn.server.api.ApplicationTerminationContext;
import org.apache.hadoop.yarn.server.api.AuxiliaryService;
import org.apache.hadoop.yarn.server.api.ContainerInitializationContext;

/** An auxiliary service that misbehaves, for tests/interop/test-java-services: -Dmode=… */
public final class HostileAuxService extends AuxiliaryService {
  private final String mode = System.getProperty("mode");

  public HostileAuxService() {
    super("hostile");
  }

  @Override
  protected void serviceInit(Configuration conf) throws Exception {
    switch (mode) {
    case "throws-in-init":
      throw new IllegalStateException("no such port\nat all");
    case "exits":
      System.exit(3);
      break;
    case "hangs":
      Thread.sleep(Long.MAX_VALUE);
      break;
    default:
      super.serviceInit(conf);
    }
  }

  @Override
  public void initializeApplication(ApplicationInitializationContext context) {
    throw new IllegalStateException("always");
  }

  @Override
  public void stopApplication(ApplicationTerminationContext context) {
    throw new IllegalStateException("always");
  }

  @Override
  public void initializeContainer(ContainerInitializationContext context) {
    throw new IllegalStateException("always");
  }

  @Override
  public ByteBuffer getMetaData() {
    return null;
  }
}
