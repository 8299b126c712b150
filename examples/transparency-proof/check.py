# Checks a proof that "npm run log -- prove ID" has printed, without the ledger: python check.py PUBLIC_KEY < proof.json
# Prints what the log says, and exits with 1 if anything is not proved.
import json
import sys
from base64 import b64decode
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


class NotProved(Exception):
    pass


def digest(*parts: bytes) -> bytes:
    return sha256(b"".join(parts)).digest()


def read_checkpoint(note: str, public_key: str) -> tuple[int, bytes]:
    """The tree of a checkpoint (C2SP tlog-checkpoint) that is signed with a public key (C2SP signed-note, Ed25519)."""
    signed, _, signatures = note.rpartition("\n\n")
    signed += "\n"
    name, key_id, key = public_key.split("+", 2)
    encoded = b64decode(key)
    own_id = digest(f"{name}\n".encode(), encoded)[:4]
    if own_id.hex() != key_id or encoded[0] != 1:
        raise NotProved("the public key is malformed")
    if not any(is_signature(line, name, own_id, encoded[1:], signed) for line in signatures.split("\n")):
        raise NotProved("the checkpoint is not signed with this key")
    origin, size, root = signed.split("\n")[:3]
    if origin != name:
        raise NotProved(f"the checkpoint is of the log {origin}")
    return int(size), b64decode(root)


def is_signature(line: str, name: str, key_id: bytes, key: bytes, signed: str) -> bool:
    if not line.startswith(f"\u2014 {name} "):
        return False
    found = b64decode(line.split(" ")[2])
    if found[:4] != key_id:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(found[4:], signed.encode())
        return True
    except InvalidSignature:
        return False


def root_of(leaf: bytes, index: int, size: int, proof: list[bytes]) -> bytes:
    """The root of the tree of a size that has this leaf (RFC 9162, section 2.1.3.2)."""
    own, last = index, size - 1
    for sibling in proof:
        if last == 0:
            raise NotProved("the inclusion proof is too long")
        is_right = own % 2 == 1 or own == last
        leaf = digest(b"\x01", sibling, leaf) if is_right else digest(b"\x01", leaf, sibling)
        while is_right and own % 2 == 0 and own != 0:
            own, last = own >> 1, last >> 1
        own, last = own >> 1, last >> 1
    if last != 0:
        raise NotProved("the inclusion proof is too short")
    return leaf


def check(entry: dict, size: int, root: bytes) -> None:
    index = entry["index"]
    personal_hash = b64decode(entry["personal_hash"])
    if index >= size:
        raise NotProved(f"the checkpoint has no entry {index}")
    if "salt" in entry and digest(b64decode(entry["salt"]), entry["personal"].encode()) != personal_hash:
        raise NotProved(f"the personal data of entry {index} is not that of its hash")
    content = digest(entry["text"].encode(), personal_hash)
    leaf = digest(b"\x00", b64decode(entry["tag"]), content)
    if root_of(leaf, index, size, [b64decode(one) for one in entry["inclusion_proof"]]) != root:
        raise NotProved(f"entry {index} is not in the log")


try:
    proof = json.load(sys.stdin)
    if proof["format"] != 1:
        raise NotProved("the format of the proof is not known")
    size, root = read_checkpoint(proof["checkpoint"], sys.argv[1])
    for entry in proof["entries"]:
        check(entry, size, root)
        print(f"entry {entry['index']} of {size}: {entry['text']}")
        if "salt" in entry:
            print(f"  personal data: {entry['personal']}")
except (NotProved, ValueError, KeyError) as error:
    print(f"not proved: {error}", file=sys.stderr)
    sys.exit(1)
