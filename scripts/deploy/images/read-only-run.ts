import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

/** The configuration of an image, as far as it is used here. */
export interface ImageConfig {
  readonly User: string
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
  readonly Cmd?: readonly string[]
  readonly WorkingDir: string
  readonly Healthcheck?: { readonly Test: readonly string[] }
  readonly ExposedPorts?: Readonly<Record<string, object>>
}

/**
 * Mounts the root of an image read-only, with an empty /tmp and a copy of the folder of files at /mnt. The mounts are
 * in a namespace that ends with the process. Then it runs the command as the user of the image.
 */
const enterScript = `
root=$1 user=$2 folder=$3 files=$4
shift 4
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/tmp"
[ -z "$files" ] || { mount -t tmpfs tmpfs "$root/mnt" && cp -r "$files/." "$root/mnt/" && chmod -R a+rX "$root/mnt"; }
mount -o remount,bind,ro "$root"
exec chroot --userspec="$user" --groups= "$root" env -i --chdir="$folder" "$@"
`

export interface RunOptions {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** A folder of this machine whose files are copied to /mnt. */
  readonly files?: string
}

/** Starts the program of an image as a container engine with a read-only root would, on the network of this machine. */
export function startImage(
  root: string,
  config: ImageConfig,
  { args, env = {}, files = '' }: RunOptions = {},
): ChildProcess {
  const command = [...config.Entrypoint, ...(args ?? config.Cmd ?? [])]
  return enter(root, config, { command, env, files })
}

/** Runs a command in the root of an image; rejects with its output if it fails. */
export async function runInImage(
  root: string,
  config: ImageConfig,
  command: readonly string[],
  { env = {}, files = '' }: RunOptions = {},
): Promise<string> {
  const child = enter(root, config, { command, env, files })
  const [stdout, stderr, [code]] = await Promise.all([
    child.stdout ? text(child.stdout) : '',
    child.stderr ? text(child.stderr) : '',
    once(child, 'close'),
  ])
  if (code !== 0)
    throw new Error(`${command.join(' ')} ended with code ${code}:\n${stdout}${stderr}`)
  return stdout
}

function enter(
  root: string,
  { User: user, Env: own, WorkingDir: folder }: ImageConfig,
  { command, env, files }: { command: readonly string[]; env: object; files: string },
): ChildProcess {
  const variables = [...own, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)]
  const namespace = ['--mount', '--propagation', 'private']
  const script = ['/bin/sh', '-euc', enterScript, 'sh', root, user, folder, files]
  return spawn('unshare', [...namespace, ...script, ...variables, ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}
