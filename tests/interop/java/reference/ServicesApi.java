import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.http.HttpServer2;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.service.webapp.ApiServer;
import org.apache.hadoop.yarn.webapp.GenericExceptionHandler;
import org.apache.hadoop.yarn.webapp.YarnJacksonJaxbJsonProvider;

/**
 * Hadoop's API server of YARN services in front of any ResourceManager: the classes that Apache's ResourceManager serves below /app,
 * at the path where its clients ask. Hadoop's own ApiServerWebApp serves them below /, where no client of Hadoop finds them, and lets
 * no filter tell it the user.
 *
 * Arguments: the address to listen at.
 */
public final class ServicesApi {
  private ServicesApi() {
  }

  public static void main(String[] args) throws Exception {
    Configuration conf = new YarnConfiguration();
    HttpServer2 server = new HttpServer2.Builder().setName("api-server").setConf(conf).setPathSpec(new String[] {"/app/*"})
        .addEndpoint(URI.create("http://" + args[0])).build();
    server.addJerseyResourcePackage(String.join(";", ApiServer.class.getPackage().getName(),
        GenericExceptionHandler.class.getPackage().getName(), YarnJacksonJaxbJsonProvider.class.getPackage().getName()), "/app/*");
    server.start();
    server.join();
  }
}
