import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'

/** Whether Debian packages can be installed: the system is Debian, and the user is root. */
export function canInstallDebianPackages(): boolean {
  if (process.getuid?.() !== 0) return false
  try {
    return /^ID=["']?debian["']?$/m.test(readFileSync('/etc/os-release', 'utf8'))
  } catch {
    return false
  }
}

/**
 * Most of these packages start a system service on the well-known port, which a test run must not
 * do. Debian consults /usr/sbin/policy-rc.d before it starts a service, so during the install a
 * policy denies it. An existing policy of the machine's owner is not changed. `flock` makes test
 * files that install at the same time wait for each other, and its lock ends with the process.
 */
const installScript = `
policy=$1
shift
mark='# Placed by the Portcullis tests while they install a package.'
if [ -e "$policy" ] && ! grep -qxF "$mark" "$policy"; then
  "$policy" "$1" start >&2
  if [ $? -ne 101 ]; then
    echo "$policy would let the package start a system service; install $* yourself." >&2
    exit 1
  fi
else
  trap 'rm -f "$policy"' EXIT
  trap 'exit 1' INT TERM HUP
  printf '#!/bin/sh\\n%s\\nexit 101\\n' "$mark" > "$policy"
  chmod 755 "$policy"
fi
install() {
  apt-get install --yes --quiet --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"
}
install "$@" || { apt-get update --quiet && install "$@"; }
`

export interface DebianSystem {
  readonly policyFile: string
  readonly lockFile: string
  /** The PATH in which apt-get is found. */
  readonly path: string
}

const thisSystem: DebianSystem = {
  policyFile: '/usr/sbin/policy-rc.d',
  lockFile: '/run/lock/portcullis-test-servers.lock',
  path: process.env.PATH ?? '',
}

/** Installs the packages; rejects with the end of apt-get's output if that fails. */
export async function installDebianPackages(
  names: readonly string[],
  { policyFile, lockFile, path } = thisSystem,
): Promise<void> {
  const command = ['sh', '-c', installScript, 'sh', policyFile, ...names]
  const child = spawn('flock', [lockFile, ...command], {
    env: { ...process.env, PATH: path, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  if (code !== 0) {
    const output = `${stdout}${stderr}`.trim().split('\n').slice(-5).join('\n')
    throw new Error(`apt-get install ${names.join(' ')} failed:\n${output}`)
  }
}
