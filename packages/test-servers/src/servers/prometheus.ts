import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findFreePort, host } from '../free-port.ts'
import { provideProgram } from '../programs/provide-program.ts'
import { type Address, type OpenServer, openServer } from '../server.ts'
import { type Service, startService } from '../service.ts'

export interface PrometheusOptions {
  /** The content of prometheus.yml. Paths of rule files must be absolute. */
  readonly config?: object
}

export interface PrometheusServer extends Address, Service, OpenServer {}

/** Without a configuration it scrapes no targets. */
export async function openPrometheus({
  config = {},
}: PrometheusOptions = {}): Promise<PrometheusServer> {
  const program = await provideProgram('prometheus')
  return openServer({
    name: 'prometheus',
    build: async ({ folder, start }) => {
      const port = await findFreePort()
      const url = `http://${host}:${port}`
      const file = join(folder, 'prometheus.yml')
      // JSON is also valid YAML.
      await writeFile(file, JSON.stringify(config))
      const args = [
        ...[`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'data')}`],
        ...[`--web.listen-address=${host}:${port}`, '--log.level=warn'],
      ]
      const service = await startService({
        start: () => start(program, args, { name: 'prometheus' }),
        isReady: () => isReady(url, folder),
      })
      return { host, port, url, ...service }
    },
  })
}

/** The working directory distinguishes this Prometheus from another one on the port. */
async function isReady(url: string, folder: string): Promise<boolean> {
  if (!(await fetch(`${url}/-/ready`)).ok) return false
  const info = await (await fetch(`${url}/api/v1/status/runtimeinfo`)).json()
  return info.data.CWD === folder
}
