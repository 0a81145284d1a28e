"""An identity provider by pysaml2, which answers one sign-in request.

Reads {"metadata", "url", "entityId"} of the service provider and its request from standard input, and writes the
metadata of the identity provider and its responses. Needs pysaml2 and xmlsec1.
"""

import json
import os
import subprocess
import sys
import tempfile
from urllib.parse import parse_qs, urlparse

from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
from saml2.config import IdPConfig
from saml2.metadata import entity_descriptor
from saml2.saml import NAMEID_FORMAT_PERSISTENT, NameID
from saml2.server import Server

sha256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
digest = "http://www.w3.org/2001/04/xmlenc#sha256"


def main():
    given = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        json.dump(answer(folder, given), sys.stdout, indent=2)


def answer(folder, given):
    key, certificate, sp = (os.path.join(folder, name) for name in ("key.pem", "cert.pem", "sp.xml"))
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650", "-subj", "/CN=pysaml2"]
        + ["-keyout", key, "-out", certificate],
        check=True,
        capture_output=True,
    )
    with open(sp, "w") as file:
        file.write(given["metadata"])
    config = IdPConfig().load(
        {
            "entityid": "https://pysaml2.example/metadata",
            "key_file": key,
            "cert_file": certificate,
            "xmlsec_binary": given["xmlsec"],
            "metadata": {"local": [sp]},
            "service": {
                "idp": {
                    "endpoints": {
                        "single_sign_on_service": [("https://pysaml2.example/sso", BINDING_HTTP_REDIRECT)]
                    },
                    "want_authn_requests_signed": True,
                    "policy": {"default": {"lifetime": {"minutes": 5}, "name_form": "urn:oasis:names:tc:SAML:2.0:attrname-format:uri"}},
                }
            },
        }
    )
    server = Server(config=config)
    query = {name: values[0] for name, values in parse_qs(urlparse(given["url"]).query).items()}
    request = server.parse_authn_request(
        query["SAMLRequest"],
        BINDING_HTTP_REDIRECT,
        relay_state=query["RelayState"],
        sigalg=query["SigAlg"],
        signature=query["Signature"],
    )
    message = request.message
    target = server.response_args(message)

    def respond(**options):
        response = server.create_authn_response(
            identity={"mail": ["ada@company.example"], "displayName": ["Ada Lovelace"]},
            userid="ada",
            name_id=NameID(format=NAMEID_FORMAT_PERSISTENT, text="ada-persistent"),
            authn={"class_ref": "urn:oasis:names:tc:SAML:2.0:ac:classes:Password", "authn_auth": "https://pysaml2.example"},
            sign_alg=sha256,
            digest_alg=digest,
            **target,
            **options,
        )
        return str(response)

    return {
        "requestId": message.id,
        "metadata": str(entity_descriptor(config)),
        "assertionSigned": respond(sign_assertion=True, sign_response=False),
        "bothSigned": respond(sign_assertion=True, sign_response=True),
        "encrypted": respond(sign_assertion=True, sign_response=True, encrypt_assertion=True),
    }


main()
