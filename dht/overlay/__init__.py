"""How is it all one network? The running overlay, its public protocol and its assembly. Read api, then service."""
