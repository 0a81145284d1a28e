import { run } from '../../bare-system/run.ts'

/** buildah with images in a separate folder, so that the images of the machine are not changed. */
export interface Buildah {
  /** Runs a command and returns its output. */
  readonly call: (...args: readonly string[]) => Promise<string>
  /** Mounts the root of a new container of an image until `work` settles. */
  readonly withRoot: <Result>(
    image: string,
    work: (root: string, container: string) => Promise<Result>,
  ) => Promise<Result>
}

export function createBuildah(program: string, folder: string): Buildah {
  // vfs needs neither a kernel module nor mounts inside namespaces.
  const storage = [
    '--root',
    `${folder}/images`,
    '--runroot',
    `${folder}/run`,
    '--storage-driver',
    'vfs',
  ]
  const call: Buildah['call'] = async (...args) =>
    (await run(program, [...storage, ...args])).trim()
  return {
    call,
    async withRoot(image, work) {
      const container = await call('from', '--pull-never', image)
      try {
        return await work(await call('mount', container), container)
      } finally {
        await call('rm', container)
      }
    },
  }
}
