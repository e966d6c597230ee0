"""Holds the words of searching, in English and Chinese: the results page, a reader's own rules, who sees what.

Pure: strings only; `translations.py` shows them with all others.
"""

SEARCH_TEXTS: dict[str, tuple[str, str]] = {
    "foot.promise": (
        "Works without scripts. Nothing from third parties, nobody is watched.",
        "无需脚本即可使用。不加载任何第三方内容，不跟踪任何人。",
    ),
    "foot.privacy": ("Who sees a query", "谁能看到查询"),
    "foot.sites": ("Your sites", "网站偏好"),
    "foot.add": ("Suggest a site", "推荐网站"),
    "results.rest": ("Search the rest", "搜索其余部分"),
    "results.better": ("{n} better results", "另有 {n} 条更好的结果"),
    "results.better.one": ("1 better result", "另有 1 条更好的结果"),
    "results.narrow": ("Narrow", "缩小范围"),
    "results.missing": ("Is a site missing?", "缺少某个网站？"),
    "sort.label": ("Order", "排序"),
    "sort.rss": ("RSS", "RSS"),
    "sort.atom": ("Atom", "Atom"),
    "because.chart": ("What its score is made of", "得分构成"),
    "because.all": ("It holds all {asked} words", "它包含全部 {asked} 个词"),
    "because.one": ("It holds the word", "它包含该词"),
    "because.some": ("It holds {found} of the {asked} words", "它包含 {asked} 个词中的 {found} 个"),
    "because.best": (
        "“{best}” counts most, which {holders} of {documents} pages have",
        "“{best}”最为重要，{documents} 个网页中有 {holders} 个包含它",
    ),
    "because.title": ("a word stands in the title", "标题中有查询词"),
    "because.near": ("the words stand close together", "这些词彼此相近"),
    "because.front": ("it is the front page of its site", "它是网站首页"),
    "because.joint": ("; ", "；"),
    "because.end": (".", "。"),
    "because.named": ("title, site name", "标题、网站名"),
    "because.numbers": ("all numbers", "全部数值"),
    "site.menu": ("this site", "该网站"),
    "site.raise": ("raise", "提升"),
    "site.lower": ("lower", "降低"),
    "site.block": ("block", "屏蔽"),
    "site.forget": ("no rule", "不设规则"),
    "site.about": ("Results of {host}:", "{host} 的结果："),
    "site.is.raise": ("You raised this site.", "您已提升该网站。"),
    "site.is.lower": ("You lowered this site.", "您已降低该网站。"),
    "ruled.left_out": ("left out, as their sites are blocked: {count}", "因网站被屏蔽而略去：{count}"),
    "ruled.raise": ("raised: {count}", "提升：{count}"),
    "ruled.lower": ("lowered: {count}", "降低：{count}"),
    "ruled.about": (
        "Your site rules changed the first hundred results",
        "您的网站规则改变了前一百条结果",
    ),
    "ruled.exact": (
        "What is said of the answer above is of the order before.",
        "上方关于结果的说明针对调整前的顺序。",
    ),
    "ruled.without": ("show without", "不按规则显示"),
    "ruled.again": ("Site rules are off for this search.", "本次搜索未使用网站规则。"),
    "ruled.with": ("use them", "使用规则"),
    "sites.title": ("Your sites", "网站偏好"),
    "sites.about": (
        "Raise sites that you trust, lower those that you seldom need, block those that you never want. A raised "
        "site's results count as if they stood at a fifth of their place, a lowered one's at five times; of the first "
        "hundred results, those of blocked sites are left out and others move up.",
        "提升您信任的网站，降低您很少需要的网站，屏蔽您不想看到的网站。被提升网站的结果按其名次的五分之一计，"
        "被降低的按五倍计；前一百条结果中，被屏蔽网站的结果会略去，其后的结果依次上移。",
    ),
    "sites.where": (
        "The rules stay in a cookie of this browser. The node reads them with each request and keeps nothing; other "
        "nodes never see them.",
        "规则保存在此浏览器的 Cookie 中。节点随每次请求读取，不作保存；其他节点永远看不到它们。",
    ),
    "sites.list": ("Rules", "规则"),
    "sites.how": (
        "One rule a line: raise, lower or block, and a host. Lists of uBlacklist and of Goggles can be pasted, too.",
        "每行一条规则：raise（提升）、lower（降低）或 block（屏蔽），后接网站名。"
        "也可粘贴 uBlacklist 或 Goggles 的列表。",
    ),
    "sites.save": ("Save", "保存"),
    "sites.saved": ("Saved.", "已保存。"),
    "sites.export": ("Save as a file", "保存为文件"),
    "sites.owners": (
        "The owner of this node has rules, too, which count where yours say nothing:",
        "本节点所有者也设有规则，在您未作规定处生效：",
    ),
    "sites.flaw": ("That list cannot be read: {flaw}", "无法读取该列表：{flaw}"),
    "sites.too_long": (
        "A browser keeps some two hundred rules and these are more; a longer list can be the node's: "
        "node.site_rules in its config.toml.",
        "浏览器大约能保存两百条规则，此列表过长；更长的列表可由节点保存：config.toml 中的 node.site_rules。",
    ),
    "add.title": ("Suggest a site", "推荐网站"),
    "add.about": (
        "Something is missing? Give the address of a page. The owner of this node sees it and may have its site "
        "collected; who suggested it is not kept.",
        "缺少什么吗？请给出网页地址。本节点所有者会看到，并可将该网站纳入收集；不会记录推荐者。",
    ),
    "add.label": ("Address of a page", "网页地址"),
    "add.send": ("Suggest", "推荐"),
    "add.crawl": ("Collect", "收集"),
    "add.drop": ("Drop", "忽略"),
    "add.waiting": ("Suggested by readers", "读者推荐"),
    "add.none": ("Nothing waits.", "暂无待处理的推荐。"),
    "add.noted": ("Thank you. The owner of this node will see it:", "谢谢。本节点所有者将会看到："),
    "add.known": ("This address is known already:", "该地址已知："),
    "add.refused": ("This address is not fetched:", "该地址不会被抓取："),
    "add.taken": ("It will be collected, and what it links to within its site:", "将收集该地址及其站内链接："),
    "add.dropped": ("Dropped:", "已忽略："),
    "add.no_url": (
        "That is no address of a page, like https://example.org/.",
        "这不是网页地址，例如 https://example.org/。",
    ),
    "add.full": (
        "Too many suggestions wait already, of this site or altogether; try again another day.",
        "该网站或全部待处理的推荐已过多，请改日再试。",
    ),
    "cache.versions": ("All versions: {count}", "全部版本：{count}"),
    "cache.all": ("list for programs", "供程序使用的列表"),
    "privacy.title": ("Who sees a query", "谁能看到查询"),
    "privacy.node.title": ("This node", "本节点"),
    "privacy.node": (
        "It answers your browser, so it sees the query and your address. It writes neither down: not to its disk, not "
        "to its log. An exact answer stays in its memory for five seconds, in case somebody asks the same; of each "
        "query "
        "it keeps that there was one and how long it took. While you type, suggestions come from this node alone.",
        "它为您的浏览器作答，因此能看到查询和您的地址。两者都不会写入磁盘或日志。精确的结果在内存中保留五秒，"
        "以备有人提出相同查询；"
        "每次查询只记录发生过一次及所用时间。输入时的搜索建议只来自本节点。",
    ),
    "privacy.peers.title": ("Other nodes", "其他节点"),
    "privacy.peers": (
        "No node has the whole index, so few of them, chosen anew for each query, are asked for their parts. Each sees "
        "the words as you typed them, the filters, the order, how your words might be spelled otherwise, and this "
        "node's "
        "id and address. None sees your address, your browser, your cookies or your site rules. Then the nodes that "
        "keep "
        "the pages found are asked for them and see which pages these are. Now and then others are asked the same, to "
        "find out who answers wrongly.",
        "没有节点拥有完整索引，因此每次查询会另选少数节点，向它们询问各自的部分。它们能看到您输入的词、筛选条件、排序、"
        "可能的其他拼写，以及本节点的标识和地址；看不到您的地址、浏览器、Cookie 和网站规则。"
        "随后会向保存结果网页的节点索取这些网页，"
        "它们因此知道是哪些网页。有时会向其他节点提出同样的查询，以发现谁的回答有误。",
    ),
    "privacy.trust": (
        "The program keeps no query there either; but a node belongs to somebody, who may run another program. Ask no "
        "network for what nobody may know.",
        "本程序在那里同样不保存查询；但节点属于他人，对方可能运行别的程序。不可为人知的内容，不要向任何网络查询。",
    ),
    "privacy.way.title": ("On the way", "传输途中"),
    "privacy.way": (
        "Between nodes queries are encrypted. Who watches the line sees which nodes talk to each other. Between your "
        "browser and this node they are in the clear unless its owner has put a server with TLS in front of it; on "
        "your "
        "own machine nobody sees them.",
        "节点之间的查询是加密的；监视线路者只能看到哪些节点在通信。浏览器与本节点之间未加密，"
        "除非所有者在前面设置了 TLS 服务器；"
        "在您自己的机器上则无人可见。",
    ),
    "privacy.sites.title": ("The sites that you open", "您打开的网站"),
    "privacy.sites": (
        "They do not learn what you searched for: browsers are told to send them no referrer. Nothing on our pages "
        "comes from them.",
        "它们不会知道您搜索了什么：浏览器被告知不向其发送来源信息。我们的页面不加载它们的任何内容。",
    ),
    "privacy.browser.title": ("Your browser", "您的浏览器"),
    "privacy.browser": (
        "Its history keeps addresses, and a query stands in the address of its results, so that they can be bookmarked "
        "and sent on. It keeps no copy of the page. There is no cookie unless you set rules for sites or log in as the "
        "node's owner.",
        "其历史记录会保存网址，而查询就在结果页的网址中，以便收藏和分享。浏览器不保存页面副本。"
        "除非您设置网站规则或以节点所有者身份登录，"
        "否则没有 Cookie。",
    ),
    "privacy.post": ("Search without leaving the query in the history", "搜索且不在历史记录中留下查询"),
    "home.privacy": ("Who sees a query", "谁能看到查询"),
    "home.posted": (
        "Queries from this page stay out of the browser's history.",
        "从此页发起的查询不会留在浏览器历史记录中。",
    ),
}
