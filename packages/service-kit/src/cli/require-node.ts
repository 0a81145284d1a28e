import process from 'node:process'

// This must be the first import of every program. It also loads on older Node versions, which would
// otherwise fail with a stack trace about the first missing feature. Keep it in line with `engines`
// in package.json.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `This program requires Node 22.18 or later; this is Node ${process.versions.node}. Install a newer one ` +
      'from https://nodejs.org or with your version manager, such as "nvm install 24".\n',
  )
  process.exit(1)
}
